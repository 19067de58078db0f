"""Connects Eunoe to the programs that agents run in: what is written into which of their files, and how it is undone.

`jsonc`, `toml` and `marked` change a text and leave every byte around the change alone; `parts` says what a client
gets, `clients` which client gets it where; `plan` turns that into changes of files, and only `files` writes them. No
client is ever run and nothing of theirs is imported. Not here: asking, showing, and the store.
"""
