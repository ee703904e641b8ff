"""What makes a group usable, each a `Process` around an inner `Process`: packing, fragmentation, service levels."""

from ordercast.group.layer import Layer
from ordercast.group.levels import Safe, at_level
from ordercast.group.packing import Packing, packed
from ordercast.group.parts import knows_parts

__all__ = ["Layer", "Packing", "Safe", "at_level", "knows_parts", "packed"]
