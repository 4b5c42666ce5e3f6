#!/bin/sh
# Serves two labs for artifacts.yaml until it is stopped: on 8760 with few artifacts in each tool, on 8780 with many.
#
#   FEW, MANY   how many                                                    2000, 24000
set -eu
cd "$(dirname "$0")"
first=; second=
end() { kill $first $second 2>/dev/null || true; wait; }
trap end EXIT
trap 'exit 0' TERM INT
./lab.sh --port 8760 --artifacts "${FEW:-2000}" --reset &
first=$!
./lab.sh --port 8780 --data .lab-many --artifacts "${MANY:-24000}" --reset &
second=$!
wait
