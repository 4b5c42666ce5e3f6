"""Locust's results."""
