"""Which combinations of parameters a quick run takes: so many that each value of each parameter is tried once."""


def kept(combinations):
    """Return the positions of combinations, each a dictionary of parameters, in which each value occurs once at least.

    The next is always the first one with the most values that did not occur yet: of three and five values, 5 of 15.
    """
    values = [{(name, id(value)) for name, value in each.items()} for each in combinations]
    left, found = set().union(*values), []
    while left:
        found.append(max(range(len(values)), key=lambda k: len(values[k] & left)))
        left -= values[found[-1]]
    return found
