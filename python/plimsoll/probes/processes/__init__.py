"""The target's processes: which they are, what they use, whom they are connected to, and what they wait for."""
