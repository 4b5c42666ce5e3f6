"""A discussion forum with the REST paths of the Open edX report: threads, responses, comments, votes.

schema.py           tables, indexes, the old and the new index for unread counts
seed.py             N threads with their comments, people with secrets; deterministic by seed
data_directory.py   what is seeded, and the names of its files
forms.py            what requests may hold, all mistakes at once; pure
answers.py          the JSON of answers; pure
queries.py          statements that find
changes.py          statements that change
people.py           sessions, secrets, CSRF tokens
accounts.py         the accounts service, a process of its own: profiles of several users at once
profile_images.py   its client, and how many calls an answer makes
transactions.py     server-side transactions per request, for /status
app.py              the REST paths
openapi.py          the document of /openapi.json
server.py           from the command line to what is served; the accounts process
load_files.py       study and script for the forum that serves, in its data folder
load/               a k6-compatible load script and a study
"""
