"""The examples under the help of a command."""


def examples(*commands: str) -> str:
    """Return the examples that stand under a command's help, each in a line of its own.

    Examples
    --------
    >>> examples("codt strategies").splitlines()[1:]
    ['Examples:', '  codt strategies']
    """
    # The character tells click not to join the lines.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
