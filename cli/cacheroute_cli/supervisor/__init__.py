"""Child processes: started in order, watched, and never left behind."""
