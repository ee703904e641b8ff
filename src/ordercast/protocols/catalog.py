"""The catalog: every protocol by its name.  A new protocol is one file, and one line here."""

from collections.abc import Mapping

from ordercast.core import Process
from ordercast.protocols.basic import Basic
from ordercast.protocols.cm import CM
from ordercast.protocols.counter import Counter
from ordercast.protocols.dtp import DTP
from ordercast.protocols.optimistic import Optimistic
from ordercast.protocols.pinwheel import Pinwheel
from ordercast.protocols.po import PO
from ordercast.protocols.to import TO, TOMerged
from ordercast.protocols.total import Total
from ordercast.protocols.totem import Totem
from ordercast.protocols.trans import Trans
from ordercast.protocols.tree import Tree
from ordercast.protocols.two_phase import TwoPhase

_PROTOCOLS: tuple[type[Process], ...] = (
    DTP,
    CM,
    Pinwheel,
    Totem,
    Counter,
    TwoPhase,
    Optimistic,
    TO,
    TOMerged,
    PO,
    Trans,
    Total,
    Tree,
    Basic,
)

CATALOG: Mapping[str, type[Process]] = {kind.name: kind for kind in _PROTOCOLS}


def protocol(name: str) -> type[Process]:
    """The protocol of that name; `ValueError` names those there are."""
    if name not in CATALOG:
        raise ValueError(f"no protocol is called {name!r}; there are: {', '.join(CATALOG)}")
    return CATALOG[name]
