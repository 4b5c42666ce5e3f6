"""Trials: fresh starts of a load in a planned order, for compare, decompose and sweep."""
