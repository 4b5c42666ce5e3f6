"""Gatling's results."""
