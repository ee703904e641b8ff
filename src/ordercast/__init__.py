"""Ordercast: groups of processes that deliver the same messages in the same order; run, simulated and checked."""

__version__ = "0.1.0"
