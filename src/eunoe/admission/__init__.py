"""The one gate: every write path passes it, and nothing else decides what a statement means for what is believed."""
