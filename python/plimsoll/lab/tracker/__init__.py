"""An issue tracker with the REST paths of the YouTrack report.

schema.py           tables, indexes, the text index; SQLite by default, PostgreSQL by a DSN
database.py         how a statement is run: inline on the event loop (SQLite) or on threads (PostgreSQL)
seed.py             N issues and 99 users, deterministic by seed
data_directory.py   the pristine seeded copy, the working copy, the lock, users.json
search_syntax.py    the languages of the search box and of commands; pure
queries.py          every statement
app.py              the REST paths
telemetry.py        the flat document of /api/admin/telemetry
server.py           socket, core, signals, the line that says ready
load_files.py       study and script for the tracker that serves, in its data folder
load/               a k6-compatible load script and a study
"""
