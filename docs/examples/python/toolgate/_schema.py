"""JSON Schemas from the type hints of functions."""

from __future__ import annotations

import inspect
import types
import typing
from typing import Any, Callable, Literal, Union

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean",
          dict: "object", list: "array", type(None): "null"}
_UNIONS = (Union, getattr(types, "UnionType", Union))


def schema_of(kind: Any) -> dict[str, Any]:
    """Returns the schema of a type; an unknown type accepts anything."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in _UNIONS:
        return {"anyOf": [schema_of(one) for one in inner]}
    if origin is list:
        return {"type": "array", "items": schema_of(inner[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    return {"type": _NAMES[kind]} if kind in _NAMES else {}


def schema_of_arguments(function: Callable[..., Any],
                        skip: type) -> tuple[dict[str, Any], str | None]:
    """Returns the schema, and the name of the parameter of type skip."""
    hints = typing.get_type_hints(function)
    properties: dict[str, Any] = {}
    required: list[str] = []
    skipped = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL,
                              parameter.POSITIONAL_ONLY):
            raise ValueError(f'"{name}" of {function.__name__}() cannot be '
                             "passed by name; make it an ordinary argument")
        if hints.get(name) is skip:
            skipped = name
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            return {"type": "object", "properties": properties,
                    "required": required}, skipped
        properties[name] = schema_of(hints.get(name))
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = parameter.default
    return {"type": "object", "properties": properties, "required": required,
            "additionalProperties": False}, skipped
