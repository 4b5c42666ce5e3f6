"""Facts that Prometheus' exporters tell: read from a page of metrics, or from a Prometheus server.

page.py and server.py read; instances.py parts what a server scraped; followed.py follows one page or instance, with its
restarts (beginnings.py) and what it no longer tells of (presence.py); seen.py turns counters into rates; hosts.py,
containers.py, databases.py and runtimes.py say which of our names the metrics of known exporters have; selectors.py
takes what the study names.
"""
