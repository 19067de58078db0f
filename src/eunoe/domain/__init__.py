"""Frozen values and pure rules: no I/O, no clock, no randomness of their own, standard library only."""
