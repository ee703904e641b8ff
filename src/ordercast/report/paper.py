"""What `reproduce` leaves of a paper: per figure a picture and a CSV, per table a CSV, and `claims.json`."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ordercast.papers import Claim, Figure, Findings
from ordercast.report.figures import render
from ordercast.report.files import put


def write_findings(findings: Findings, directory: Path) -> list[Path]:
    """Write figures and tables into a directory, and the claims beside those that stand there already."""
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for figure in findings.figures:
        written.append(put(directory / f"{figure.name}.png", render(figure)))
        if isinstance(figure, Figure):
            rows = figure_rows(figure)
            written.append(put(directory / f"{figure.name}.csv", _csv(("panel", "curve", "x", "y", "half_95"), rows)))
    written += [put(directory / f"{table.name}.csv", _csv(table.columns, table.rows)) for table in findings.tables]
    written.append(write_claims(findings.claims, directory))
    return written


def figure_rows(figure: Figure) -> list[tuple[Any, ...]]:
    """The numbers of a figure, one row per point."""
    rows = []
    for panel in figure.panels:
        for curve in panel.curves:
            halves: Sequence[float | None] = curve.half or [None] * len(curve.x)
            rows += [(panel.title, curve.label, *point) for point in zip(curve.x, curve.y, halves, strict=True)]
    return rows


def write_claims(claims: Sequence[Claim], directory: Path) -> Path:
    """`claims.json`: these claims, and those of other experiments that an earlier call left."""
    path = directory / "claims.json"
    there = read_claims(path)
    ids = {claim.id for claim in claims}
    kept = [claim for claim in there if claim.id not in ids]
    return put(path, msgspec.json.format(msgspec.json.encode(kept + list(claims)), indent=2) + b"\n")


def read_claims(path: Path) -> list[Claim]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Claim])
    except (FileNotFoundError, msgspec.MsgspecError):
        return []


def _csv(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None or cell != cell else cell for cell in row] for row in rows)
    return out.getvalue().encode()
