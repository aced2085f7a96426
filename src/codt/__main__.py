"""The command ``codt``, and ``python -m codt``."""

import sys

_STUDY = {"psutil", "scipy", "scikit_posthocs", "matplotlib", "jinja2", "distributed", "tomli"}


def main() -> None:
    """Run the command line, or say what to install if its libraries are missing."""
    try:
        from codt.command_line.app import app  # noqa: PLC0415 (its libraries are optional)

        app()
    except ModuleNotFoundError as error:
        if error.name in {"typer", "rich", "pandas", "pyarrow"}:
            sys.exit(f"The codt command needs {error.name}, which is not installed: pip install {error.name}")
        if error.name in _STUDY:
            sys.exit(f"This command needs {error.name}, which is not installed: pip install 'codt[study,cluster]'")
        raise


if __name__ == "__main__":
    main()
