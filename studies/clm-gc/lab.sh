#!/bin/sh
# Serves the configurations for the studies of this folder, with their data in .lab beside it, until it is stopped.
# Further arguments go to `plimsoll lab configurations`.
#
#   DEFECT      known defects: --recount-artifacts, --resolve-each         none
#   PLIMSOLL    the command, if it is not on the path
set -eu
cd "$(dirname "$0")"
. ../plimsoll.sh
# shellcheck disable=SC2086 # PLIMSOLL may be several words
exec $run lab configurations --data .lab "$@" ${DEFECT:-}
