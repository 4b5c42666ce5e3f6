#!/bin/sh
# Serves the tracker for study.yaml and minor.yaml, with its data in .lab-$ISSUES beside this file.
#
#   ISSUES      seeded issues                             1200
#   JOB_EVERY   seconds between the background job's runs; 0 without it     15
#   AGEING      1: every create recounts all issues; 0: not                 1
set -eu
cd "$(dirname "$0")"
ISSUES="${ISSUES:-1200}" JOB_EVERY="${JOB_EVERY:-15}" AGEING="${AGEING:-1}"
[ "$AGEING" = 0 ] || set -- --age-recount "$@"
[ "$JOB_EVERY" = 0 ] || set -- --job-every "$JOB_EVERY" "$@"
exec plimsoll lab tracker --data ".lab-$ISSUES" --issues "$ISSUES" --port 8710 --reset "$@"
