"""Compare, decompose and sweep: findings of runs that are made of trials."""
