"""The file that describes a stack: read, judged line by line, and turned into processes."""
