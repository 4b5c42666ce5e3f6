#!/bin/sh
# Serves the lab for study.yaml, with its data in .lab beside this file.
#
#   DEFECT      a known defect: --recount-results           none
#   PLIMSOLL    the command, if it is not on the path
set -eu
cd "$(dirname "$0")"
. ../plimsoll.sh
# shellcheck disable=SC2086 # PLIMSOLL and DEFECT may be several words, or none
exec $run lab testcases --data .lab "$@" ${DEFECT:-}
