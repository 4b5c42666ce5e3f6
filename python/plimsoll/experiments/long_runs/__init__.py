"""Experiments of hours: hold at a level or at an objective, load many items, drain a consumer."""
