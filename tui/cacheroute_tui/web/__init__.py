"""The console in a browser: the same program, served by textual-serve behind a door of ours."""
