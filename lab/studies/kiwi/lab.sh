#!/bin/sh
# Serves the lab for study.yaml, with its data in .lab beside this file.
#
#   DEFECT      a known defect: --recount-results           none
set -eu
cd "$(dirname "$0")"
# shellcheck disable=SC2086 # DEFECT may be several words, or none
exec plimsoll lab testcases --data .lab "$@" ${DEFECT:-}
