"""``python -m mechdesign``: the command line."""

from mechdesign.cli import main

if __name__ == "__main__":
    main()
