"""Generators of the training text that was written for this project. `mixture.py` puts them together."""
