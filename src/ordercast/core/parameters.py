"""A protocol's parameters as a person meets them: listed with units and defaults, set by name from text."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ordercast.core.process import Parameters, Process


def describe(kind: type[Parameters]) -> list[dict[str, Any]]:
    """One entry per parameter: name, default, unit, text."""
    out = []
    info = msgspec.inspect.type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    for field in info.fields:
        meta = field.type
        extra: dict[str, Any] = {}
        text = ""
        while isinstance(meta, msgspec.inspect.Metadata):
            extra.update(meta.extra or {})
            text = (meta.extra_json_schema or {}).get("description", text)
            meta = meta.type
        out.append({"name": field.name, "default": field.default, "unit": extra.get("unit", ""), "text": text})
    return out


def parameters_of(process: type[Process], given: Mapping[str, Any]) -> Parameters:
    """The parameters of a protocol with some set by name; `ValueError` names what is wrong and what there is."""
    known = [field.name for field in msgspec.structs.fields(process.Parameters)]
    for name in given:
        if name not in known:
            there = ", ".join(known) or "none"
            raise ValueError(f"{process.name} has no parameter {name!r}; it has: {there}")
    try:
        read = {name: _listed(value) for name, value in given.items()}
        return msgspec.convert(read, process.Parameters, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise ValueError(f"{process.name}: {error}") from None


def _listed(value: Any) -> Any:
    """A list or an object that came as text (`--set sources=[0,3]`) is JSON."""
    return msgspec.json.decode(value) if isinstance(value, str) and value[:1] in ("[", "{") else value
