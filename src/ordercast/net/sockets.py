"""The sockets: unicast, and IP multicast where the group has a multicast address; their errors, said plainly."""

import contextlib
import errno
import ipaddress
import socket
import sys
from typing import TypeAlias

from ordercast.net.errors import AddressInUse, AddressUnusable

Address: TypeAlias = tuple[str, int]

BUFFER_BYTES = 8 << 20  # of a socket, if the host allows it
_SO_SNDBUFFORCE, _SO_RCVBUFFORCE = 32, 33  # Linux; beyond the host's limit, if this process may


def resolve(address: Address) -> Address:
    """The numeric IPv4 address of a member."""
    host, port = address
    if not 0 < port < 65536:
        raise AddressUnusable(f"{host}:{port}: a port is a number from 1 to 65535")
    try:
        found = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)
    except (OSError, UnicodeError) as error:
        raise AddressUnusable(f"{host}:{port}: the host is not known ({error})") from None
    return str(found[0][4][0]), port


def is_loopback(address: Address) -> bool:
    """Does this (numeric) address stay on the host?"""
    return ipaddress.ip_address(address[0]).is_loopback


def open_unicast(address: Address) -> socket.socket:
    """The socket on which a member receives, and from which it sends everything."""
    sock = _socket()
    _bind(sock, address)
    return sock


def open_multicast(group: Address, interface: Address, sender: socket.socket) -> socket.socket:
    """The socket on which a member receives the group's multicasts; `sender` is made to send them."""
    if not ipaddress.ip_address(group[0]).is_multicast:
        raise AddressUnusable(f"{group[0]} is not a multicast address (224.0.0.0 to 239.255.255.255)")
    local = socket.inet_aton(interface[0])
    sock = _socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _bind(sock, group)
    try:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(group[0]) + local)
        sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, local)
    except OSError as error:
        sock.close()
        raise AddressUnusable(f"{interface[0]} cannot join {group[0]}: {error.strerror}") from None
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 0 if is_loopback(interface) else 1)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    return sock


def _socket() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setblocking(False)
    for option, force in ((socket.SO_RCVBUF, _SO_RCVBUFFORCE), (socket.SO_SNDBUF, _SO_SNDBUFFORCE)):
        sock.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)
        with contextlib.suppress(OSError):
            if sys.platform == "linux":
                sock.setsockopt(socket.SOL_SOCKET, force, BUFFER_BYTES)
    return sock


def _bind(sock: socket.socket, address: Address) -> None:
    host, port = address
    try:
        sock.bind(address)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressInUse(f"{host}:{port} is in use by another process; choose another port") from None
        raise AddressUnusable(f"{host}:{port} cannot be bound on this host: {error.strerror}") from None
