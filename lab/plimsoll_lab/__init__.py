"""Reference targets to try everything on.

A target here is a small, complete server written as a competent team would write it: real storage, real
indexes, real text search. It gives studies, demonstrations and tests something whose inside is known.

    tracker       an issue tracker, after the YouTrack report: drafts, issues, commands, search
    inventory     a library's inventory, after the FOLIO report: JSON documents, CQL search, export of ids
    discussions   a forum, after the Open edX report: threads, responses, comments, votes, an accounts service
    testcases     test cases, runs and results, after the Kiwi TCMS report: JSON-RPC, XML-RPC, the same work in parts
    configurations   global configurations over three tools, after the report on CLM 6.0: hierarchies, change feeds
    links         the index of links that follows those feeds; it belongs to `configurations` and imports parts of it

What targets share:

    serving.py       socket, core, signals, the ready line, uvicorn's options
    children.py      further processes of a target, which end when it does
    database.py      engines; how a statement runs: inline on the event loop (SQLite) or on threads (PostgreSQL)
    remote_token.py  what others than this machine need where it does not listen on loopback
    folder.py        the data folder: its lock, files that are there whole or not
    seeded_data.py   what the data was seeded with, what is asked for, the way back to the seeded state
    seeding.py       invented words, many rows at once
    load_files.py    study and load script for a target that serves
    ports.py         free ports

A target knows nothing of load, experiments or findings: apart from the tree of errors, the nearest word, the start of
processes and the writing of files, this package imports nothing of `plimsoll`, so that a target cannot depend on the
tool that measures it. The tool takes for_plimsoll.py of it, where it is installed.
"""
