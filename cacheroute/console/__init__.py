"""What every face of the console shares: rows, columns, filters, order, alerts and their meaning.

Pure and free of any toolkit: a command and a screen show the same rows by the same columns.
"""
