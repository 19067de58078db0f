"""Lanes: one way each to find candidates. A new lane is one file here and its name in a recipe."""
