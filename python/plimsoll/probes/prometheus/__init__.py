"""Facts that Prometheus' exporters tell: read from a page of metrics, or from a Prometheus server.

page.py and server.py read; seen.py turns counters into rates; hosts.py, containers.py, databases.py and runtimes.py say
which of our names the metrics of known exporters have; selectors.py takes what the study names.
"""
