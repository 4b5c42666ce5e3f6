#!/bin/sh
# Serves the configurations for the studies of this folder, with their data in .lab beside it, until it is stopped.
# Further arguments go to `plimsoll lab configurations`.
#
#   DEFECT      known defects: --recount-artifacts, --resolve-each         none
set -eu
cd "$(dirname "$0")"
# shellcheck disable=SC2086 # DEFECT may be several words, or none
exec plimsoll lab configurations --data .lab "$@" ${DEFECT:-}
