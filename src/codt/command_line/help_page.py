"""The help of a command: its options in groups, and examples below."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

# What stands above arguments and options that are in no group.
_USUAL = {"argument": "Arguments", "option": "Options"}

# Groups that few users need.
_LAST = ("Reading tables", "The search")


class GroupedHelp(TyperCommand):
    """A command whose help shows its options in groups; by itself typer does that only with rich's markup."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options under the titles of their groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for entry in self.get_params(ctx):
            record = entry.get_help_record(ctx)
            if record:
                title = getattr(entry, "rich_help_panel", None) or _USUAL[entry.param_type_name]
                groups.setdefault(title, []).append(record)
        for title in sorted(groups, key=_LAST.__contains__):
            with formatter.section(title):
                formatter.write_dl(groups[title])


def examples(*commands: str) -> str:
    """Return the examples below a command's help, one per line.

    Examples
    --------
    >>> examples("codt strategies").splitlines()[1:]
    ['Examples:', '  codt strategies']
    """
    # The character tells click not to join the lines.
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
