"""One HTML file that opens offline: its style and its pictures are inside it."""

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ordercast.papers import Drawing, Figure
from ordercast.report.figures import render
from ordercast.report.files import put

_STYLE = """
:root { color-scheme: light; --ink: #1d2430; --faint: #5d6778; --rule: #d9dee7; --paper: #fff; --band: #f5f7fa;
  --good: #1b6e3c; --good-band: #e5f4ea; --bad: #a3201b; --bad-band: #fbe7e6; --mild: #7a5400; --mild-band: #fdf3dc; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 28px 20px 60px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 36px 0 10px; }
h2 { border-bottom: 1px solid var(--rule); padding-bottom: 4px; } h3 { font-size: 15px; margin: 22px 0 6px; }
p { margin: 6px 0; max-width: 80ch; } .faint { color: var(--faint); } code { font-size: 13px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 13px; margin: 8px 0; }
th, td { padding: 4px 9px; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th { background: var(--band); font-weight: 600; vertical-align: bottom; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.good { background: var(--good-band); color: var(--good); }
td.bad { background: var(--bad-band); color: var(--bad); font-weight: 600; }
td.mild { background: var(--mild-band); color: var(--mild); } td.none { color: var(--faint); }
.banner { padding: 10px 14px; border-radius: 6px; margin: 16px 0; font-weight: 600; max-width: none; }
.banner.good { background: var(--good-band); color: var(--good); } .banner.bad { background: var(--bad-band);
  color: var(--bad); } .banner.mild { background: var(--mild-band); color: var(--mild); }
figure { margin: 14px 0; } figure img { max-width: 100%; height: auto; }
summary { cursor: pointer; color: #0b5394; font-size: 13px; }
nav { margin: 10px 0; font-size: 14px; } nav a { margin-right: 14px; color: #0b5394; }
"""

_LONG = 12  # rows above which a table that may be folded is


class Cell(str):
    """A cell's text, with the class that colours it."""

    kind: str

    def __new__(cls, text: str, kind: str) -> "Cell":
        cell = super().__new__(cls, text)
        cell.kind = kind
        return cell


class Page:
    """HTML, piece by piece; every text is escaped here and nowhere else."""

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title = title
        self.sections: list[str] = []
        self.parts = [f"<h1>{escape(title)}</h1>"]
        if subtitle:
            self.text(subtitle, faint=True)
        self.top = len(self.parts)

    def section(self, title: str) -> None:
        self.sections.append(title)
        self.parts.append(f'<h2 id="s{len(self.sections)}">{escape(title)}</h2>')

    def heading(self, title: str) -> None:
        self.parts.append(f"<h3>{escape(title)}</h3>")

    def text(self, text: str, faint: bool = False) -> None:
        kind = ' class="faint"' if faint else ""
        self.parts += [f"<p{kind}>{escape(part.strip())}</p>" for part in text.split("\n\n") if part.strip()]

    def banner(self, text: str, kind: str) -> None:
        self.parts.append(f'<p class="banner {kind}">{escape(text)}</p>')

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], fold: bool = False) -> None:
        """A table; with `fold`, a long one is closed until someone opens it."""
        rows = list(rows)
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        body = "\n".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
        table = f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        if fold and len(rows) > _LONG:
            table = f"<details><summary>{len(rows)} rows</summary>{table}</details>"
        self.parts.append(table)

    def figure(self, figure: Figure | Drawing) -> None:
        picture = base64.b64encode(render(figure, "svg")).decode()
        alt = escape(figure.title, quote=True)
        self.parts.append(f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{picture}"></figure>')

    def html(self) -> str:
        links = "".join(f'<a href="#s{k}">{escape(title)}</a>' for k, title in enumerate(self.sections, 1))
        parts = [*self.parts[: self.top], f"<nav>{links}</nav>" if links else "", *self.parts[self.top :]]
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{escape(self.title)}</title><style>{_STYLE}</style></head>\n"
            f"<body><main>\n{chr(10).join(parts)}\n</main></body></html>\n"
        )

    def write(self, path: Path) -> Path:
        """Write the page; it appears whole or not at all."""
        return put(path, self.html().encode())


def _cell(value: Any) -> str:
    if value is None or value != value:
        return '<td class="none">–</td>'
    if isinstance(value, Cell):
        return f'<td class="{value.kind}">{escape(value)}</td>'
    if isinstance(value, bool):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int):
        return f'<td class="number">{value:,}</td>'
    if isinstance(value, float):
        return f'<td class="number">{value:.4g}</td>'
    return f"<td>{escape(str(value))}</td>"
