"""The command ``codt``, and ``python -m codt``."""

import sys


def main() -> None:
    """Run the command line, or say what to install if its libraries are missing."""
    try:
        from codt.cli import app  # noqa: PLC0415 (its libraries are optional)
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich", "pandas"}:
            raise
        sys.exit(f"The codt command needs {error.name}, which is not installed: pip install {error.name}")
    app()


if __name__ == "__main__":
    main()
