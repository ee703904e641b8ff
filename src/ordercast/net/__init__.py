"""The live network: `Group`, the door for applications, and the only sockets."""

from ordercast.net.errors import (
    AddressInUse,
    AddressUnusable,
    GroupClosed,
    GroupError,
    GroupFailed,
    LevelRefused,
    LockedOut,
    MembersMissing,
    UnknownMember,
)
from ordercast.net.group import Delivery, Group
from ordercast.net.settings import Settings

__all__ = [
    "AddressInUse",
    "AddressUnusable",
    "Delivery",
    "Group",
    "GroupClosed",
    "GroupError",
    "GroupFailed",
    "LevelRefused",
    "LockedOut",
    "MembersMissing",
    "Settings",
    "UnknownMember",
]
