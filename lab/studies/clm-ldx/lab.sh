#!/bin/sh
# Serves the configurations (8760 to 8765) and the link index that follows them (8770), seeded anew, until it is stopped.
#
#   ARTIFACTS   how many each tool holds                                    2000
#   POLL_EVERY  seconds between polls of the index                          5
#   PORT, LINKS_PORT  of the two; 0 takes free ones               8760, 8770
#   DATA        folder of the data                                          .lab
#   DSN         PostgreSQL instead of SQLite: postgresql://user@host:port/database
#   DEFECT      a known defect: --reindex-all, --keep-versions              none
#
# Further arguments go to `plimsoll lab links`: --threads N, --source NAME.
set -eu
cd "$(dirname "$0")"
DATA="${DATA:-.lab}"
mkdir -p "$DATA"
plimsoll lab configurations --port "${PORT:-8760}" --data "$DATA/configurations" --reset --artifacts "${ARTIFACTS:-2000}" \
  ${DSN:+--dsn "$DSN"} > "$DATA/configurations.out" &
served=$!
index=
end() { kill $served $index 2>/dev/null || true; wait; }
trap end EXIT
trap 'exit 0' TERM INT
until grep -q '"ready": true' "$DATA/configurations.out"; do
  kill -0 "$served" || exit 1
  sleep 0.2
done
# shellcheck disable=SC2086 # DEFECT may be several words, or none
plimsoll lab links --port "${LINKS_PORT:-8770}" --configurations "$DATA/configurations" --data "$DATA/links" --reset \
  --poll-every "${POLL_EVERY:-5}" ${DSN:+--dsn "$DSN"} "$@" ${DEFECT:-} &
index=$!
wait $index
