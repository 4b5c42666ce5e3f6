"""Keeping secrets out of whatever is written or shown (law 8)."""
