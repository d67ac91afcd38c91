"""`python -m fujiscore` is the command `fuji`."""

from fujiscore.cli import main

if __name__ == "__main__":
    main()
