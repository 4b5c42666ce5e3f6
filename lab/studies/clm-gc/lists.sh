#!/bin/sh
# Serves two labs for lists.yaml until it is stopped: on 8760 tools keep what gc answers, on 8780 they ask it for each
# artifact of a list.
#
#   DEFECT      of the second lab; empty: none                              --resolve-each
set -eu
cd "$(dirname "$0")"
first=; second=
end() { kill $first $second 2>/dev/null || true; wait; }
trap end EXIT
trap 'exit 0' TERM INT
DEFECT= ./lab.sh --port 8760 --reset &
first=$!
DEFECT="${DEFECT---resolve-each}" ./lab.sh --port 8780 --data .lab-each --reset &
second=$!
wait
