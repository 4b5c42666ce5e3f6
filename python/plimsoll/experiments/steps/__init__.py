"""Holding one level and judging it by what happened there."""
