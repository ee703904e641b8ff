"""Ordercast: groups of processes that deliver the same messages in the same order; run, simulated and checked."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordercast.net.errors import GroupError
    from ordercast.net.group import Delivery, Group

__version__ = "0.1.0"
__all__ = ["Delivery", "Group", "GroupError", "__version__"]


def __getattr__(name: str) -> Any:
    # Whoever only simulates or checks does not load the network.
    if name in ("Delivery", "Group", "GroupError"):
        from ordercast import net

        return getattr(net, name)
    raise AttributeError(f"module 'ordercast' has no attribute {name!r}")
