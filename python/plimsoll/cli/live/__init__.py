"""The live view of a load on a terminal: progress becomes a state (levels.py, trials.py, run.py), that becomes lines
(view.py), and a thread of its own draws them (screen.py). Nothing of it may end a run or hold up its end."""
