# Sourced by the scripts that serve a study's target: $run is the command `plimsoll`, which may be several words.
# PLIMSOLL names it; else it is what is on the path, or this checkout's own.
if [ -n "${PLIMSOLL:-}" ]; then run=$PLIMSOLL
elif command -v plimsoll >/dev/null; then run=plimsoll
elif [ -x ../../.venv/bin/plimsoll ]; then run=../../.venv/bin/plimsoll
else run='python3 -m plimsoll'
fi
