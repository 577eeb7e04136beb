"""The files that type checkers read are not run."""

collect_ignore = ["sample.py", "wrong.py"]
