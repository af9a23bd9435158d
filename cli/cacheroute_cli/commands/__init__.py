"""One module per command group; each holds one `app`, imported only when it is asked for."""
