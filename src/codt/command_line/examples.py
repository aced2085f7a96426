"""Examples in the help of the commands."""


def examples(*commands: str) -> str:
    """Return the examples below a command's help, one per line.

    Examples
    --------
    >>> examples("codt strategies").splitlines()[1:]
    ['Examples:', '  codt strategies']
    """
    # The character tells click not to join the lines.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
