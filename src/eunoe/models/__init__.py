"""Models and other things that the core asks of the outside, behind ports."""
