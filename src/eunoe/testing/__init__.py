"""Shipped for who builds on Eunoe: fakes that say how they behave, and contract suites for the ports."""
