"""`python -m plimsoll` is the command `plimsoll`."""

from plimsoll.own_programs import forget_current_folder

forget_current_folder()  # before the imports of the rest

from plimsoll.cli import main  # noqa: E402

main()
