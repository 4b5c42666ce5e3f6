"""A library's inventory with the REST paths of the FOLIO report: three modules behind a gateway, each a process.

cql.py              the language of searches; pure
documents.py        what an instance may hold, and the columns made of it; pure
schema.py           tables and indexes; SQLite by default, PostgreSQL by a DSN
statements.py       a search as SQL
seed.py             N instances, reference data, 20 users, deterministic by seed
data_directory.py   what is seeded, and the names of its files
database.py         how transactions run: on threads, with pooled connections
queries.py          every statement; the known defect of --load-all
answers.py          errors in one form, parameters, bodies
storage.py          module: instances, searches, export of ids, reference data
search.py           module: the interface of the catalogue's pages, in front of storage
users.py            module: login and tokens
profiler.py         what --profiler looks at
gateway.py          one address: checks the token at users, passes on to the module of the path
openapi.py          /openapi.json
module.py           one module as a process
modules.py          the processes: memory limit, restarts
server.py           from the command line to what is served; the modules' ports
load_files.py       study and script for the inventory that serves
load/               a k6-compatible load script and a study
"""
