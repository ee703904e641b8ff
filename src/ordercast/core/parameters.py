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
        return msgspec.convert(dict(given), process.Parameters, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{process.name}: {error}") from None
