"""Other tools' results: one file a format, recognised by content. Each is a `Format` named FORMAT.

    catalogue.py       all formats, recognising one, reading it
    source.py          what a format is, and what it supports
    lines.py           a text file line by line, packed or not, with a cut last line told
    spill.py           samples → seconds, in memory that does not grow with their number
    telling_apart.py   columns of a table that tell tests apart
    units.py           cells such as "350 ms", "78.64%", "130.5 MB"
    order_of_times.py  statistics that can be of the same times
    clock.py           points in time as tools write them

Results with single samples or seconds become the seconds of a run directory (`spill.py`); summaries and published
tables become a step table (`runs/readings/step_table.py`).
"""
