"""The server's side over time from other sources: Prometheus and CSV, put beside an imported run.

A point counts in the second into which it falls, after the stated offset. Between points nothing is made up: a second
without a point has none. Counters become rates over the time between their own points, told at the later one.
"""
