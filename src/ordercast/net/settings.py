"""What describes a group and this member's place in it: the arguments of `Group.join`, and `ordercast node`'s file."""

import importlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ordercast.core import Pid, Process, parameters_of
from ordercast.core.contract import Level
from ordercast.group import at_level
from ordercast.net.errors import GroupError, LevelRefused, UnknownMember
from ordercast.net.frames import LARGEST_BYTES, number
from ordercast.net.sockets import Address
from ordercast.protocols.catalog import protocol

SMALLEST_FRAME_BYTES = 576


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group as one member joins it.  It is fixed, unless the protocol knows joining and `founders` are named.

    All members must agree on `name`, the members' numbers, `protocol`, `level` and `parameters`.
    """

    me: Pid
    members: Mapping[Pid, Address]  # where each one receives
    protocol: str = "dtp"
    level: Level | None = None  # None: as the protocol delivers
    parameters: Mapping[str, Any] = {}
    name: str = "ordercast"  # groups of another name share no messages
    multicast: Address | None = None  # an IP multicast group; None: one datagram to each member
    frame_bytes: int | None = None  # of a datagram; None: as large as the path allows
    founders: tuple[Pid, ...] | None = None  # who begins: the other numbers are for newcomers, one life each; None: all
    timeout: float = 30.0  # for all members to be there
    queue_messages: int = 2_000  # broadcasts that may wait here
    inbox_messages: int = 50_000  # deliveries that may wait for the application
    trace: str | None = None  # a directory: record what happens here
    run: str = "live"  # the name of the trace's run
    drop: float = 0.0  # lose this share of the frames that arrive, for trials

    def number(self, kind: type[Process]) -> int:
        """A number for what all members must agree on."""
        level = self.level or "as delivered"
        parameters = msgspec.json.encode(parameters_of(kind, self.parameters)).decode()
        begin = sorted(self.members if self.founders is None else self.founders)
        return number("settings", self.name, kind.name, level, sorted(self.members), begin, parameters)

    def check(self) -> None:
        """`GroupError` for what cannot be."""
        if self.me not in self.members:
            named = ", ".join(str(member) for member in sorted(self.members)) or "nobody"
            raise UnknownMember(f"the group does not name member {self.me}; its members are {named}")
        if len(set(self.members.values())) < len(self.members):
            raise GroupError("two members have the same address")
        if any(not 0 <= member < 1 << 31 for member in self.members):
            raise GroupError("a member's number is from 0 to 2147483647")
        if self.founders is not None and not set(self.founders) <= set(self.members):
            raise UnknownMember("a founder is not among the members")
        if self.founders == ():
            raise GroupError("a group has at least one founder")
        if not 0.0 <= self.drop < 1.0:
            raise GroupError(f"drop is a share from 0 to below 1, not {self.drop}")
        if self.frame_bytes is not None and not SMALLEST_FRAME_BYTES <= self.frame_bytes <= LARGEST_BYTES:
            raise GroupError(f"frame_bytes is from {SMALLEST_FRAME_BYTES} to {LARGEST_BYTES}, not {self.frame_bytes}")
        if self.queue_messages < 1 or self.inbox_messages < 1:
            raise GroupError("a queue holds at least one message")


def address_of(text: str) -> Address:
    """`host:port` as an address."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"{text!r} is not an address; write host:port, as in 127.0.0.1:7000")
    return host, int(port)


def members_of(listed: Mapping[Any, Any]) -> dict[Pid, Address]:
    """Members as text: `{"0": "127.0.0.1:7000"}`."""
    out = {}
    for key, value in listed.items():
        if not str(key).isdecimal():
            raise ValueError(f"{key!r} is not a member's number")
        out[int(key)] = address_of(str(value))
    return out


def read_settings(path: Path) -> dict[str, Any]:
    """The arguments of `Settings` in a TOML file; `GroupError` says in one line what is wrong with it."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise GroupError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    try:
        given = tomllib.loads(text)
        given["members"] = members_of(given.get("members", {}))
        if "multicast" in given:
            given["multicast"] = address_of(given["multicast"])
    except (tomllib.TOMLDecodeError, ValueError, AttributeError, TypeError) as error:
        raise GroupError(f"{path}: {error}") from None
    return given


def protocol_named(name: str) -> type[Process]:
    """A protocol of the catalog, or one's own as `module:Class`; `GroupError` if there is none."""
    module, colon, attribute = name.partition(":")
    try:
        if not colon:
            return protocol(name)
        kind = getattr(importlib.import_module(module), attribute)
    except (ValueError, ImportError, AttributeError) as error:
        raise GroupError(str(error)) from None
    if not (isinstance(kind, type) and issubclass(kind, Process)):
        raise GroupError(f"{name} is not a protocol (a subclass of ordercast.core.Process)")
    return kind


def served_by(settings: Settings, kind: type[Process]) -> type[Process]:
    """The protocol at the level asked for; `LevelRefused` if its contract, or the network, does not give it."""
    if settings.founders is not None and kind.joins != "as_new":
        raise LevelRefused(f"{kind.name} takes no newcomers: leave out the founders")
    channel = kind.contract.needs.get("channel")
    if channel is not None:
        raise LevelRefused(
            f"{kind.name} needs a network with the property 'channel: {channel}', which UDP has not; simulate it"
        )
    try:
        served = at_level(kind, settings.level)
    except ValueError as error:
        raise LevelRefused(str(error)) from None
    if served.withdraws:
        raise LevelRefused(f"{kind.name} takes deliveries back, which an application cannot: ask for the level 'safe'")
    return served


def make_settings(given: Mapping[str, Any]) -> Settings:
    """Settings from text and numbers; `GroupError` says in one line what is wrong."""
    known = [field.name for field in msgspec.structs.fields(Settings)]
    for name in given:
        if name not in known:
            raise GroupError(f"a group has no setting {name!r}; it has: {', '.join(known)}")
    for name in ("me", "members"):
        if name not in given:
            raise GroupError(f"the setting {name!r} is missing")
    try:
        settings = msgspec.convert(dict(given), Settings)
    except msgspec.ValidationError as error:
        raise GroupError(str(error)) from None
    settings.check()
    return settings
