"""`python -m plimsoll` is the command `plimsoll`."""

from plimsoll.cli import main

main()
