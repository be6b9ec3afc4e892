"""A client for the tools and methods of a server."""

from __future__ import annotations

import atexit
import ctypes
import json
import logging
import math
import os
import weakref
from typing import Any, Callable, Dict, List

from . import _library as lib
from .errors import TOOL_EXECUTION, IPCToolExecutionError

# The method list() hides the type in the class.
Items = List[Dict[str, Any]]
Values = List[str]

_log = logging.getLogger("toolgate")
_clients: weakref.WeakSet[Client] = weakref.WeakSet()


class Client:
    """Calls the tools of a server at a path, HOST:PORT or tls:HOST:PORT, and
    reads its prompts and resources.  With None, the address is that of the
    command line.

        with Client(path) as client:
            client.call("word_count", {"text": "a b"})

    Several threads may call at once.  docs/library.md lists the options of a
    client, such as grace="10s".  The functions notified(), connected() and
    updated() run in a thread of the library, in which no request may be made.
    """

    def __init__(self, address: str | None = None,
                 notified: Callable[[str, Any], None] | None = None,
                 connected: Callable[[bool, str | None], None] | None = None,
                 updated: Callable[[str], None] | None = None,
                 **options: str) -> None:
        self._handle: int | None = lib.ask("client_new", lib.text_of(address))
        if not self._handle:
            raise ValueError(lib.last_error())
        self._pid = os.getpid()

        def on_notified(method: bytes, text: int | None, size: int,
                        data: int) -> None:
            try:
                assert notified
                notified(method.decode(), json.loads(ctypes.string_at(
                    text, size)) if text else None)
            except Exception:
                _log.exception("a client's function failed")

        def on_connected(is_connected: int, why: bytes | None,
                         data: int) -> None:
            try:
                assert connected
                connected(bool(is_connected),
                          why.decode(errors="replace") if why else None)
            except Exception:
                _log.exception("a client's function failed")

        def on_updated(uri: bytes, data: int) -> None:
            try:
                assert updated
                updated(uri.decode())
            except Exception:
                _log.exception("a client's function failed")

        # The library keeps their addresses, so they must not be freed.
        self._callbacks = (lib.NOTIFIED(on_notified),
                           lib.CONNECTED(on_connected),
                           lib.UPDATED(on_updated))
        if notified:
            lib.do("client_on_notification", self._handle, self._callbacks[0],
                   None)
        if connected:
            lib.do("client_on_connection", self._handle, self._callbacks[1],
                   None)
        if updated:
            lib.do("client_on_update", self._handle, self._callbacks[2], None)
        for option, value in options.items():
            lib.do("client_set", self._handle, option.encode(), value.encode())
        _clients.add(self)

    def open(self) -> None:
        """Connects; raises IPCConnectionError if there is no server."""
        lib.do("client_open", self._handle)

    def close(self) -> None:
        """Ends waiting calls with IPCConnectionError; may be reopened."""
        lib.do("client_close", self._handle)

    def __enter__(self) -> Client:
        self.open()
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        # After fork(), the client belongs to the parent process.
        if handle and self._pid == os.getpid():
            lib.ask("client_free", handle)

    @property
    def is_connected(self) -> bool:
        return bool(lib.ask("client_is_connected", self._handle))

    def call(self, tool: str, arguments: dict[str, Any] | None = None,
             timeout: float | None = None) -> dict[str, Any]:
        """Returns a tool's MCP result; raises IPCToolExecutionError with that
        result if the tool failed.  timeout is in seconds, by default 30."""
        result: dict[str, Any] = self._ask(
            "client_call", tool.encode(), _json_or_none(arguments),
            _milliseconds(timeout))
        return result

    def request(self, method: str,
                params: dict[str, Any] | list[Any] | None = None,
                timeout: float | None = None) -> Any:
        """Returns the result of a method."""
        return self._ask("client_request", method.encode(),
                         _json_or_none(params), _milliseconds(timeout))

    def list(self, timeout: float | None = None) -> list[dict[str, Any]]:
        """Returns all tools, with their schemas."""
        tools: list[dict[str, Any]] = self._ask(
            "client_list", _milliseconds(timeout))["tools"]
        return tools

    def prompts(self, timeout: float | None = None) -> Items:
        """Returns all prompts, with their arguments."""
        return self._list_all("prompts/list", "prompts", timeout)

    def prompt(self, name: str, arguments: dict[str, str] | None = None,
               timeout: float | None = None) -> dict[str, Any]:
        """Returns {"messages": [...]} of a prompt."""
        result: dict[str, Any] = self._ask(
            "client_prompt", lib.text_of(name), _json_or_none(arguments),
            _milliseconds(timeout))
        return result

    def resources(self, timeout: float | None = None) -> Items:
        """Returns all resources, without their contents."""
        return self._list_all("resources/list", "resources", timeout)

    def templates(self, timeout: float | None = None) -> Items:
        """Returns all templates of resources."""
        return self._list_all("resources/templates/list", "resourceTemplates",
                              timeout)

    def read(self, uri: str,
             timeout: float | None = None) -> Items:
        """Returns the contents of a resource, each with "text" or "blob"."""
        contents: Items = self._ask("client_read", lib.text_of(uri),
                                    _milliseconds(timeout))["contents"]
        return contents

    def complete(self, ref: dict[str, str], name: str, value: str = "",
                 arguments: dict[str, str] | None = None,
                 timeout: float | None = None) -> Values:
        """Returns values for an argument that begin like value.  ref is
        {"type": "ref/prompt", "name": ...} or {"type": "ref/resource",
        "uri": ...}; arguments are those that are known already."""
        params: dict[str, Any] = {
            "ref": ref, "argument": {"name": name, "value": value}}
        if arguments:
            params["context"] = {"arguments": arguments}
        values: Values = self.request("completion/complete", params,
                                      timeout)["completion"]["values"]
        return values

    def subscribe(self, uri: str, timeout: float | None = None) -> None:
        """Has updated(uri) called when the resource may have changed."""
        lib.do("client_subscribe", self._handle, lib.text_of(uri),
               _milliseconds(timeout))

    def unsubscribe(self, uri: str, timeout: float | None = None) -> None:
        lib.do("client_unsubscribe", self._handle, lib.text_of(uri),
               _milliseconds(timeout))

    def _list_all(self, method: str, member: str,
                  timeout: float | None) -> Items:
        items: Items = self._ask("client_list_all", method.encode(),
                                 _milliseconds(timeout))[member]
        return items

    def _ask(self, function: str, *arguments: Any) -> Any:
        text = ctypes.c_void_p()
        code = lib.ask(function, self._handle, *arguments, ctypes.byref(text))
        error = lib.error_of(code) if code else None
        if error and not text.value:
            raise error
        result = json.loads(lib.take(text.value))
        if error:
            if code == TOOL_EXECUTION:
                assert isinstance(error, IPCToolExecutionError)
                error.result = result
            raise error
        return result


def _json_or_none(value: Any) -> bytes | None:
    return None if value is None else lib.json_of(value)


def _milliseconds(timeout: float | None) -> int:
    """Returns milliseconds; 0: the default of the option."""
    if timeout is None:
        return 0
    if not 0 < timeout < 2_000_000:
        raise ValueError(f"a timeout must be a number of seconds above "
                         f"0, not {timeout}")
    return math.ceil(timeout * 1000)


@atexit.register
def _close_all() -> None:
    """Closes all before the interpreter, which the library calls, ends."""
    for client in list(_clients):
        if client._pid == os.getpid():
            client.close()
