"""Surfaces: faces of the same use cases. They word things; they never touch a store."""
