#!/bin/sh
# Three forums with the same data: the new index for unread counts on 28720, the old one on 28730, and on 28740 the new one
# with an accounts call for each author in place of one a page; the accounts service of each on the next port. Seeds them
# the first time (about 20 s), and begins from the seeded data each time.
#
#   THREADS         threads of each forum                             1000
#   UNREAD_INDEX    of the second forum: old, or new as the first     old
#   ACCOUNTS_CALLS  of the third forum: author, or page as the first  author
#   DSN             PostgreSQL instead of SQLite, without the database's name: postgresql://user@host:port
#                   (databases discussions_new, discussions_old and discussions_author must exist)
set -eu
cd "$(dirname "$0")"
threads=${THREADS:-1000}
first=; second=; third=
end() { kill $first $second $third 2>/dev/null || true; wait; }
trap end EXIT
trap 'exit 0' TERM INT
plimsoll lab discussions --port 28720 --accounts-port 28721 --data .lab/new --threads "$threads" --reset --auto-auth \
  ${DSN:+--dsn "$DSN/discussions_new"} &
first=$!
plimsoll lab discussions --port 28730 --accounts-port 28731 --data .lab/old --threads "$threads" --reset --auto-auth \
  ${DSN:+--dsn "$DSN/discussions_old"} \
  --unread-index "${UNREAD_INDEX:-old}" &
second=$!
plimsoll lab discussions --port 28740 --accounts-port 28741 --data .lab/author --threads "$threads" --reset --auto-auth \
  ${DSN:+--dsn "$DSN/discussions_author"} \
  --accounts-calls "${ACCOUNTS_CALLS:-author}" &
third=$!
wait
