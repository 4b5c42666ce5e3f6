#!/bin/sh
# Serves the lab for study.yaml, with its data in .lab beside this file. PLIMSOLL: the command, if it is not on the path.
set -eu
cd "$(dirname "$0")"
. ../plimsoll.sh
# shellcheck disable=SC2086 # PLIMSOLL may be several words
exec $run lab testcases --data .lab "$@"
