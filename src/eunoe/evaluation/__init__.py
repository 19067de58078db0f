"""Measures how well memory answers: data, metrics, baselines, correctness. Nothing else of Eunoe imports it."""
