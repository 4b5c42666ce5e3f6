"""Reference targets to try everything on.

A target here is a small, complete server written as a competent team would write it: real storage, real
indexes, real text search. It gives studies, demonstrations and tests something whose inside is known.

    tracker    an issue tracker, after the YouTrack report: drafts, issues, commands, search

A target knows nothing of load, experiments or findings: apart from the tree of errors, this folder imports
nothing of the package, so that a target cannot depend on the tool that measures it.
"""
