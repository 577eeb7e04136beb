"""What each kernel of a notebook runs first, by PYTHONSTARTUP: a command that fails ends its cell, as an error does."""

get_ipython().system_raise_on_error = True  # noqa: F821 - a name of notebooks
