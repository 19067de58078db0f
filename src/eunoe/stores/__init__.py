"""Stores: the ports over SQL engines. What is shared lies in `sql`, what differs in a package of the engine's name."""
