"""From an access log: what users do, how often, and how many there are."""
