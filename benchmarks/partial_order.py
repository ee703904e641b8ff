"""What a message costs Trans's partial order and Total's voting, in microseconds, as the history grows to 10^5.

Every message acknowledges the one before it; with --loss a share of the copies is lost, asked for and sent again.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence

from ordercast.parts.partial_order import Id, PartialOrder
from ordercast.parts.voting import Voting

Message = tuple[Id, Sequence[Id], Sequence[Id]]


def messages(members: int, count: int, loss: float) -> Iterator[Message]:
    """Messages in the order in which everybody has received them; each sender had lost some of the last ones."""
    draw = random.Random(1)
    sent = [0] * members
    lacks: list[set[Id]] = [set() for _ in range(members)]
    last: list[Id] = []
    for _ in range(count):
        source = draw.randrange(members)
        id = (source, sent[source])
        sent[source] += 1
        acks = [each for each in last if each not in lacks[source]]
        yield id, acks, sorted(lacks[source])
        for member in range(members):
            lacks[member] = {each for each in lacks[member] if draw.random() < loss}
            if member != source and draw.random() < loss:
                lacks[member].add(id)
        last = [id]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--loss", type=float, default=0.0)
    options = parser.parse_args()
    parts = 5
    print(f"us a message, in {parts} parts of {options.messages} messages; what is kept at the end")
    for members in (4, 10, 20, 50):
        order, voting = PartialOrder(range(members)), Voting(members, 1)
        spent, placed, begin = [], 0, time.process_time()
        for number, message in enumerate(messages(members, options.messages, options.loss), 1):
            entered = order.receive(*message)
            order.let_go.clear()
            placed += sum(len(extension.ids) for extension in voting.enter(entered))
            if number % (options.messages // parts) == 0:
                now = time.process_time()
                spent.append(1e6 * (now - begin) / (options.messages // parts))
                begin = now
        costs = " ".join(f"{each:7.1f}" for each in spent)
        print(f"n = {members:2}: {costs}   {len(order.acks)} messages, {len(voting.awaiting)} await their place")
        assert placed > 0.99 * options.messages


if __name__ == "__main__":
    main()
