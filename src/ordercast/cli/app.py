"""The application: its commands, and how a mistake of the user is told: one line on standard error, exit code 2.

A module of commands defines functions and adds them by `app.command()`; it is named in `_COMMANDS`, in the order of
`--help`.  Heavy imports (Spark, matplotlib) stand inside the functions that need them.
"""

import importlib
import os
import sys

import typer

app = typer.Typer(
    name="ordercast",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Reliable, totally ordered broadcast: run a group, simulate and compare protocols, check what happened.",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMANDS = (
    "quickstart",
    "live",
    "simulate",
    "explore",
    "lists",
    "order",
    "protocols",
    "sweep",
    "verify",
    "metrics",
    "logs",
    "reproduce",
)


def _version(wanted: bool) -> None:
    if wanted:
        from ordercast import __version__

        print(f"ordercast {__version__}")
        raise typer.Exit


@app.callback()
def _ordercast(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


for _name in _COMMANDS:
    importlib.import_module(f"ordercast.cli.{_name}")


def main() -> None:
    """Run the command line.  What a user can mend is one line; a traceback means a bug in us."""
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"ordercast: {say(error)}", file=sys.stderr)
        sys.exit(2)
    except SystemExit as left:
        if isinstance(
            getattr(left.__context__, "__cause__", None), KeyboardInterrupt
        ):  # typer's word for it: Exit(130)
            print("ordercast: interrupted", file=sys.stderr)
        raise


def say(error: Exception) -> str:
    """An error in one line."""
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more can be printed there
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__
