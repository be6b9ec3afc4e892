"""What can go wrong, as the classes that the hosts of agents know."""

from __future__ import annotations

from typing import Any


class IPCError(Exception):
    """A message that cannot be read; and all that is about messages."""


class IPCConnectionError(IPCError):
    """Nobody is there, or not any more."""


class IPCMessageSizeError(IPCError):
    """Larger than a message may be."""


class IPCToolExecutionError(IPCError):
    """A tool said no; result is all of what it said, or JSON-RPC's error."""

    result: Any = None


class BridgeStartupError(IPCError):
    """The bridge did not come up in time; with the end of its stderr."""


class ToolError(Exception):
    """Raised by a tool: whoever called is told the text, and its class."""

    def __init__(self, message: str, type: str | None = None) -> None:
        super().__init__(message)
        self.type = type


class RPCError(Exception):
    """Raised by a method: an error of JSON-RPC, -32000 to -32099."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


# What a function of the library returns, and what is raised for it.
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

# Nobody waits for that answer: no error of him who gives it.
GONE = -10

TOOL_EXECUTION = -4
