"""Writes the pages that are made from the code: cli.md and protocols/README.md.  `--check` only says what is stale."""

import sys
from pathlib import Path
from typing import get_args

import typer

from ordercast.cli import app
from ordercast.cli.protocols import catalog

HERE = Path(__file__).parent


def cli_page() -> str:
    group = typer.main.get_command(app)
    lines = ["# The command line", "", "Made from the code by `make docs`.", ""]
    for name, command in _commands(group, ""):
        lines += [f"## ordercast {name}", "", *_paragraphs(command.help or ""), ""]
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        options = [each for each in command.params if each.param_type_name == "option" and each.name != "help"]
        usage = " ".join(each.metavar or each.name.upper() for each in arguments)
        lines += ["```", f"ordercast {name} [OPTIONS] {usage}".rstrip(), "```", ""]
        rows = [(_flag(each), _said(each), _default(each)) for each in options]
        if rows:
            lines += ["| option | meaning | default |", "|---|---|---|"]
            lines += [f"| `{flag}` | {said} | {default} |" for flag, said, default in rows]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _commands(group, prefix):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def _paragraphs(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def _flag(option) -> str:
    flag = max(option.opts, key=len)
    if option.is_flag:
        return flag
    kinds = [each.__name__ for each in _kinds(option.type_descriptor.annotation)]
    return f"{flag} {option.metavar or '|'.join(kinds).upper()}"


def _kinds(annotation):
    return [each for each in get_args(annotation) or (annotation,) if each is not type(None)]


def _said(option) -> str:
    return (option.help or "").replace("|", "\\|")


def _default(option) -> str:
    value = option.default
    if option.is_flag or value in (None, [], ()) or callable(value):
        return ""
    return f"`{value}`"


def protocols_page() -> str:
    lines = [
        "# The protocols",
        "",
        "Made from the catalog by `make docs`. *Live under* lists the faults under which everything is delivered in",
        "the end; *safe under* those under which nothing wrong is.",
        "",
        "| name | paper | what it is | order | levels | reports | live under | also safe under |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for entry in catalog():
        only_safe = [fault for fault in entry["safe_under"] if fault not in entry["live_under"]]
        page = f"[`{entry['name']}`]({entry['name']}.md)"
        if not (HERE / "protocols" / f"{entry['name']}.md").exists():
            page = f"`{entry['name']}`"
        cells = (
            page,
            entry["paper"],
            entry["title"],
            entry["order"],
            ", ".join(entry["levels"]),
            ", ".join(entry["reports"]),
            ", ".join(entry["live_under"]),
            ", ".join(only_safe),
        )
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", "## Parameters", "", "| protocol | parameter | default | meaning |", "|---|---|---|---|"]
    for entry in catalog():
        for each in entry["parameters"]:
            default = f"{each['default']} {each['unit']}".strip()
            lines.append(f"| `{entry['name']}` | `{each['name']}` | {default} | {each['text']} |")
    return "\n".join(lines) + "\n"


PAGES = {"cli.md": cli_page, "protocols/README.md": protocols_page}


def main() -> None:
    stale = []
    for name, make in PAGES.items():
        path, text = HERE / name, make()
        if not path.exists() or path.read_text() != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text)
    if stale:
        print(("stale: " if "--check" in sys.argv else "written: ") + ", ".join(stale))
    sys.exit(1 if stale and "--check" in sys.argv else 0)


if __name__ == "__main__":
    main()
