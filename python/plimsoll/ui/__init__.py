"""The live page: a folder of runs, and runs that go on, in a browser (docs/ui.md, docs/decisions/0031).

    followed_run.py   reads a run directory as it grows
    audience.py       tells all viewers of a run what it is by now, once a second
    app.py            the addresses; safety.py: who may ask for them
    server.py         a socket and the loop; beside.py: the process beside a verb with --ui

It reads run directories alone. It writes there what a user says: words of control, notes, tags.
"""
