"""Edits of tables that were read from files, each as a function of the table."""


def set_key(*keys):
    """Return the edit that puts a value, the last argument, at the place that the keys before it lead to."""
    *folder, last, value = keys

    def edit(table):
        for key in folder:
            table = table[key]
        table[last] = value

    return edit
