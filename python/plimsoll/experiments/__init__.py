"""Experiments: each drives a load source and probes, and writes a run; none reads a clock."""
