"""Exceptions, with the class names that agents' hosts know."""

from __future__ import annotations

from typing import Any


class IPCError(Exception):
    """A malformed message; base class of errors about messages."""


class IPCConnectionError(IPCError):
    """No server, or the connection was lost."""


class IPCMessageSizeError(IPCError):
    """A message is too large."""


class IPCToolExecutionError(IPCError):
    """A tool failed; result is its complete result, or a JSON-RPC error."""

    result: Any = None


class BridgeStartupError(IPCError):
    """The bridge did not start in time; the text has its stderr's end."""


class ToolError(Exception):
    """Raised by a tool: the caller gets the text and the class."""

    def __init__(self, message: str, type: str | None = None) -> None:
        super().__init__(message)
        self.type = type


class NotFoundError(Exception):
    """Raised by the function of a template: it has no such resource."""


class RPCError(Exception):
    """Raised by a method, a prompt or a resource: a JSON-RPC error, -32000 to
    -32099."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


# Return values of the library, and the exceptions for them.
RAISED: dict[int, type[Exception]] = {
    -1: IPCError,
    -2: IPCConnectionError,
    -3: IPCMessageSizeError,
    -4: IPCToolExecutionError,
    -5: BridgeStartupError,
    -6: ValueError,
    -7: RuntimeError,
    -8: OSError,
    -9: MemoryError,
    -11: BlockingIOError,
    -12: TimeoutError,
}

# The call was cancelled, which is not an error of the tool.
GONE = -10

TOOL_EXECUTION = -4
