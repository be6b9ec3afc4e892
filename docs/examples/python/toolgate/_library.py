"""The functions of toolgate.h, called with ctypes."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
from ctypes import c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import Any

from .errors import GONE, RAISED

CALLED = ctypes.CFUNCTYPE(None, c_uint64, c_void_p, c_size_t, c_void_p)
CANCELLED = ctypes.CFUNCTYPE(None, c_uint64, c_void_p)
CONNECTED = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)
FILTER = ctypes.CFUNCTYPE(c_int, c_char_p, c_void_p)
MESSAGE = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)
NOTIFIED = ctypes.CFUNCTYPE(None, c_char_p, c_void_p, c_size_t, c_void_p)
REPORT = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)
UPDATED = ctypes.CFUNCTYPE(None, c_char_p, c_void_p)

# Return type and parameter types of each function.  A text that the caller
# must free is an address here, because ctypes would lose the address.
_SERVER = c_void_p
_CLIENT = c_void_p
_RESULT = ctypes.POINTER(c_void_p)
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "error": (c_char_p,),
    "version": (c_char_p,),
    "free": (None, c_void_p),
    "reply": (c_int, c_uint64, c_char_p, c_size_t),
    "fail": (c_int, c_uint64, c_char_p, c_char_p),
    "fail_unknown": (c_int, c_uint64),
    "fail_rpc": (c_int, c_uint64, c_int, c_char_p, c_char_p),
    "progress": (c_int, c_uint64, c_uint64, c_uint64, c_char_p),
    "is_wanted": (c_int, c_uint64),
    "server_new": (_SERVER, c_char_p),
    "server_free": (None, _SERVER),
    "set": (c_int, _SERVER, c_char_p, c_char_p),
    "add_tool": (c_int, _SERVER, c_char_p, c_char_p, c_char_p, CALLED,
                 c_void_p),
    "add_method": (c_int, _SERVER, c_char_p, CALLED, c_void_p),
    "add_prompt": (c_int, _SERVER, c_char_p, c_char_p, c_char_p, CALLED,
                   c_void_p),
    "add_resource": (c_int, _SERVER, c_char_p, c_char_p, c_char_p, CALLED,
                     c_void_p),
    "add_template": (c_int, _SERVER, c_char_p, c_char_p, c_char_p, CALLED,
                     c_void_p),
    "set_prompt": (c_int, _SERVER, c_char_p, c_char_p, c_char_p),
    "set_resource": (c_int, _SERVER, c_char_p, c_char_p, c_char_p),
    "set_template": (c_int, _SERVER, c_char_p, c_char_p, c_char_p),
    "remove_prompt": (c_int, _SERVER, c_char_p),
    "remove_resource": (c_int, _SERVER, c_char_p),
    "remove_template": (c_int, _SERVER, c_char_p),
    "complete_prompt": (c_int, _SERVER, c_char_p, c_char_p, CALLED, c_void_p),
    "complete_template": (c_int, _SERVER, c_char_p, c_char_p, CALLED,
                          c_void_p),
    "updated": (c_int, _SERVER, c_char_p),
    "set_tool": (c_int, _SERVER, c_char_p, c_char_p, c_char_p),
    "set_method": (c_int, _SERVER, c_char_p, c_char_p, c_char_p),
    "remove_tool": (c_int, _SERVER, c_char_p),
    "remove_method": (c_int, _SERVER, c_char_p),
    "filter": (c_int, _SERVER, FILTER, c_void_p),
    "on_cancel": (c_int, _SERVER, CANCELLED, c_void_p),
    "on_report": (c_int, _SERVER, REPORT, c_void_p),
    "start": (c_int, _SERVER),
    "stop": (c_int, _SERVER),
    "state": (c_int, _SERVER),
    "clients": (c_int, _SERVER),
    "socket": (c_char_p, _SERVER),
    "schema_file": (c_char_p, _SERVER),
    "agent_config": (c_void_p, _SERVER),
    "check_bridge": (c_int, _SERVER, c_int),
    "notify": (c_int, _SERVER, c_char_p, c_char_p),
    "fd": (c_int, _SERVER),
    "process": (c_int, _SERVER),
    "serve": (c_int, _SERVER, c_int, c_int),
    "link_open": (c_void_p, _SERVER, MESSAGE, c_void_p),
    "link_send": (c_int, c_void_p, c_char_p, c_size_t),
    "link_close": (None, c_void_p),
    "client_new": (_CLIENT, c_char_p),
    "client_free": (None, _CLIENT),
    "client_set": (c_int, _CLIENT, c_char_p, c_char_p),
    "client_on_notification": (c_int, _CLIENT, NOTIFIED, c_void_p),
    "client_on_connection": (c_int, _CLIENT, CONNECTED, c_void_p),
    "client_open": (c_int, _CLIENT),
    "client_close": (c_int, _CLIENT),
    "client_is_connected": (c_int, _CLIENT),
    "client_call": (c_int, _CLIENT, c_char_p, c_char_p, c_int, _RESULT),
    "client_request": (c_int, _CLIENT, c_char_p, c_char_p, c_int, _RESULT),
    "client_list": (c_int, _CLIENT, c_int, _RESULT),
    "client_list_all": (c_int, _CLIENT, c_char_p, c_int, _RESULT),
    "client_prompt": (c_int, _CLIENT, c_char_p, c_char_p, c_int, _RESULT),
    "client_read": (c_int, _CLIENT, c_char_p, c_int, _RESULT),
    "client_on_update": (c_int, _CLIENT, UPDATED, c_void_p),
    "client_subscribe": (c_int, _CLIENT, c_char_p, c_int),
    "client_unsubscribe": (c_int, _CLIENT, c_char_p, c_int),
}


def _load() -> ctypes.CDLL:
    """Loads TOOLGATE_LIBRARY, or the installed library."""
    path = (os.environ.get("TOOLGATE_LIBRARY")
            or ctypes.util.find_library("toolgate") or "libtoolgate.so.1")
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(
            f"libtoolgate cannot be loaded: {error}; install Toolgate, or "
            "name the file in TOOLGATE_LIBRARY") from None
    for name, (returns, *takes) in _FUNCTIONS.items():
        function = getattr(library, "toolgate_" + name)
        function.restype = returns
        function.argtypes = takes
    return library


_LIBRARY = _load()


def ask(name: str, *arguments: Any) -> Any:
    """Calls a function that reports no error."""
    return getattr(_LIBRARY, "toolgate_" + name)(*arguments)


def do(name: str, *arguments: Any) -> bool:
    """Calls a function; returns False if the call was cancelled."""
    code = ask(name, *arguments)
    if code < 0 and code != GONE:
        raise error_of(code)
    return bool(code == 0)


def error_of(code: int) -> Exception:
    """Returns the exception for the last error of this thread."""
    return RAISED.get(code, RuntimeError)(last_error())


def last_error() -> str:
    return str(ask("error").decode())


def text_of(text: str | None) -> bytes | None:
    """Encodes a text; half of a surrogate pair is replaced."""
    return None if text is None else text.encode(errors="replace")


def json_of(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode(errors="replace")


def take(address: int | None) -> str:
    """Returns a text of the library, and frees it."""
    if not address:
        raise RuntimeError(last_error())
    try:
        return ctypes.string_at(address).decode()
    finally:
        ask("free", address)


def version() -> str:
    """Returns the version of the library, such as "0.1.0"."""
    return str(ask("version").decode())
