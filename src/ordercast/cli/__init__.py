"""The command line: one thin function per command, a module per group of commands; `app` holds them all."""

from ordercast.cli.app import app, main

__all__ = ["app", "main"]
