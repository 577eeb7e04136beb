"""Options of a command in place of others, as a command takes each once."""


def replaced(given, options):
    """Return arguments with options, without the arguments of those that the options name again."""
    kept = [str(argument) for argument in given]
    for name in options:
        if str(name).startswith("-") and name in kept:
            at = kept.index(name)
            del kept[at : at + 2]
    return [*kept, *options]
