"""`python -m ordercast` is the command `ordercast`."""

from ordercast.cli import main

main()
