"""The sentence with which the answer of an interrupted run begins: findings write it, a list of runs leaves it out."""

INTERRUPTED = "Interrupted: this rests on what was measured until then."
