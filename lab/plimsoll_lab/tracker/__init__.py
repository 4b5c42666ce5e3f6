"""An issue tracker with the REST paths of the YouTrack report.

schema.py           tables, indexes, the text index; SQLite by default, PostgreSQL by a DSN
seed.py             N issues and 99 users, deterministic by seed
data_directory.py   what is seeded, and the names of its files
search_syntax.py    the languages of the search box and of commands; pure
queries.py          every statement
app.py              the REST paths
background_job.py   a job that comes back every so many seconds; off by default
telemetry.py        the flat document of /api/admin/telemetry
server.py           from the command line to what is served
load_files.py       study and script for the tracker that serves, in its data folder
load/               a k6-compatible load script and a study
"""
