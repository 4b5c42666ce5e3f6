"""Runs and statistics in, answers out: findings in words, each with its evidence and what to do next."""
