"""A store of test cases, runs and results with the RPC methods of the Kiwi TCMS report.

schema.py     tables and indexes; SQLite by default, PostgreSQL by a DSN (run by plimsoll_lab/database.py)
seed.py       N cases, N runs and their executions, deterministic by seed; the users
data.py       what is seeded, and the names of its files
values.py     what an argument of a call may be, and the errors of calls; pure
entities.py   what each filter method searches and answers
queries.py    every statement that changes something
sessions.py   login, sessions, permissions
methods.py    the RPC methods: check, then one transaction
protocols.py  JSON-RPC 2.0 and XML-RPC, bytes to calls and back; pure
variants.py   the same work without RPC (orm) and without the database (static)
app.py        paths
server.py     from the command line to what is served
"""
