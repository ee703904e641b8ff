"""The contract between a protocol and its world, and the wire codec."""

from ordercast.core.codec import DecodeError, codec
from ordercast.core.contract import LEVELS, LINK_FAULTS, PASSING_FAULTS, Contract
from ordercast.core.parameters import describe, parameters_of
from ordercast.core.process import Message, Parameters, Pid, Port, Process, Reached, Time

__all__ = [
    "LEVELS",
    "LINK_FAULTS",
    "PASSING_FAULTS",
    "Contract",
    "DecodeError",
    "Message",
    "Parameters",
    "Pid",
    "Port",
    "Process",
    "Reached",
    "Time",
    "codec",
    "describe",
    "parameters_of",
]
