"""One story: findings of a run do not contradict each other."""
