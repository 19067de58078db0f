"""Use cases: one function each, one row each in the catalogue. Every surface derives from them, none re-implements."""
