"""Functions of a program, and their calls."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Callable

from . import _library as lib
from ._schema import schema_of_arguments


class Call:
    """One call of a tool, passed to the parameter of this type."""

    def __init__(self, number: int) -> None:
        self.number = number
        # Set when the caller has cancelled the call.
        self.cancelled = threading.Event()
        # The loop and task of a coroutine.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def _cancel(self) -> None:
        if self._task:
            self._task.cancel()

    def progress(self, progress: int, total: int = 0,
                 message: str | None = None) -> bool:
        """Reports progress; returns False if the call was cancelled."""
        return lib.do("progress", self.number, progress, total,
                      lib.text_of(message))


class Entry:
    """A function; kind is "tool", "method", "prompt", "resource" or
    "completion"."""

    def __init__(self, function: Callable[..., Any], kind: str) -> None:
        self.function = function
        self.kind = kind
        self.schema, self.call_name = schema_of_arguments(function, Call)

    def arguments(self) -> list[dict[str, Any]]:
        """Returns the arguments of a prompt, in MCP's form."""
        for name, schema in self.schema["properties"].items():
            if schema.get("type", "string") != "string":
                raise ValueError(f'"{name}" of {self.function.__name__}() must '
                                 "be a str, as arguments of prompts are texts")
        required = self.schema["required"]
        return [{"name": name, "required": name in required}
                for name in self.schema["properties"]]

    def text(self, result: Any) -> bytes | None:
        """Returns what the library gets for the function's result."""
        if self.kind == "prompt":
            return lib.json_of(_messages(result))
        if self.kind == "completion":
            return lib.text_of("\n".join(result))
        if self.kind == "resource" and isinstance(result, bytes):
            return result
        if self.kind != "method" and isinstance(result, str):
            return lib.text_of(result)
        return lib.json_of(result)

    def run(self, call: Call, arguments: Any) -> Any:
        if self.kind == "completion":
            # What is not known yet is empty, what is not wanted is left out.
            arguments = {name: arguments.get(name, "")
                         for name in self.schema["properties"]}
        if self.call_name:
            arguments[self.call_name] = call
        return self.function(**arguments)


def _messages(result: Any) -> dict[str, Any]:
    """Returns a prompt's result, of a text, of messages or of MCP's form."""
    if isinstance(result, dict):
        return result
    messages = [("user", result)] if isinstance(result, str) else result
    return {"messages": [
        {"role": one[0], "content": {"type": "text", "text": one[1]}}
        if isinstance(one, tuple) else one for one in messages]}
