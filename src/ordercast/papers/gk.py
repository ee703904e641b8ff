"""Garcia-Molina & Kogan, "An implementation of reliable broadcast using an unreliable multicast facility" (1988).

Section 6 compares the protocol with the basic algorithm in words; here each sentence is a measurement.  What the paper
leaves open, and the reading taken here: two sites of 10 Mb/s links, joined by one link of 256 kb/s (`slow`, the
critical one) and its cost of 10; four hosts at the source's site; messages of 500 bytes, control messages of 64; delta
0.5 s, m = 3; the basic algorithm repeats a copy after 0.5 s, then after twice as long each time, up to 8 s.
"""

from ordercast.papers.gk_costs import COSTS, DELTA, EPIDEMIC, LOSSES, SCALE, WINDOWS
from ordercast.papers.gk_figures import EXAMPLES, SDF
from ordercast.papers.gk_recovery import INSIDE, RECOVERY
from ordercast.papers.paper import Paper

PAPER = Paper(
    "GK",
    "Garcia-Molina & Kogan, An implementation of reliable broadcast using an unreliable multicast facility",
    [EXAMPLES, SDF, RECOVERY, INSIDE, EPIDEMIC, LOSSES, WINDOWS, COSTS, DELTA, SCALE],
)
