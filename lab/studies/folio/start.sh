#!/bin/sh
# Starts four inventories on the same data, each with its own gateway and modules, and serves until it is stopped:
#
#   product    8720-8723   loads every result into memory; storage ends at MEMORY_MB
#   profiled   8730-8733   the same, with the profiler on
#   fixed      8740-8743   pages and streams; the same limit
#   unindexed  8750-8753   as fixed, without the indexes of text and titles
#
#   INSTANCES   how many each holds                           10000
#   MEMORY_MB   what the storage module may have              190
#   LOAD_ALL, PROFILER, MISSING_INDEX   0: without that       1
#   DATA        folder of the data, kept between runs         .lab-$INSTANCES
#   DSN         PostgreSQL instead of SQLite, without the database's name: postgresql://user@host:port
#               (databases inventory_product, inventory_profiled, inventory_fixed, inventory_unindexed must exist)
set -eu
cd "$(dirname "$0")"
INSTANCES="${INSTANCES:-10000}"
MEMORY_MB="${MEMORY_MB:-190}"
DATA="${DATA:-.lab-$INSTANCES}"
mkdir -p "$DATA"

inventory() {
  name="$1"
  port="$2"
  shift 2
  plimsoll lab inventory --port "$port" --data "$DATA/$name" --instances "$INSTANCES" --memory-limit "$MEMORY_MB" \
    ${DSN:+--dsn "$DSN/inventory_$name"} "$@" > "$DATA/$name.out" &
}

ready() {
  until grep -q '"ready": true' "$DATA/$1.out"; do
    kill -0 "$2" || exit 1
    sleep 0.2
  done
}

inventory fixed 8740
ready fixed $!
for name in profiled unindexed product; do # seeded once, as nothing of the study changes the data
  mkdir -p "$DATA/$name"
  if [ -z "${DSN:-}" ] && [ ! -e "$DATA/$name/inventory.db" ]; then
    cp "$DATA/fixed/inventory.db" "$DATA/$name/"
  fi
done
# switch NAME VALUE: the switch, unless the value is 0
switch() { [ "$2" = 0 ] || echo "--$1"; }
load_all=$(switch load-all "${LOAD_ALL:-1}")
# shellcheck disable=SC2046,SC2086 # a switch that is off is no word
inventory profiled 8730 $load_all $(switch profiler "${PROFILER:-1}")
profiled=$!
# shellcheck disable=SC2046
inventory unindexed 8750 $(switch missing-index "${MISSING_INDEX:-1}")
ready unindexed $!
ready profiled "$profiled"
# shellcheck disable=SC2086
inventory product 8720 $load_all # last: the study waits for this one
wait
