"""SQLite through apsw: how a file is opened and guarded, and full text by FTS5."""
