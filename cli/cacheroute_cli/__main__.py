"""`python -m cacheroute_cli` is `cacheroute`."""

from cacheroute_cli.main import main

if __name__ == "__main__":
    main()
