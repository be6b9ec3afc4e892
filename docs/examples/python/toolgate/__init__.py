"""Makes functions of a program tools for agents, with libtoolgate.

    from toolgate import Server

    server = Server("notes")

    @server.tool
    def word_count(text: str) -> str:
        "Counts the words of a text."
        return str(len(text.split()))

    with server:
        print(server.agent_config())

A client:

    from toolgate import Client

    with Client("/run/toolgate/tools.sock") as client:
        print(client.call("word_count", {"text": "a b"}))

It needs only Python's standard library and libtoolgate.so.  docs/library.md of
Toolgate describes the library.
"""

from ._library import version
from .client import Client
from .errors import (BridgeStartupError, IPCConnectionError, IPCError,
                     IPCMessageSizeError, IPCToolExecutionError, RPCError,
                     ToolError)
from .server import Call, Link, Server

__all__ = [
    "BridgeStartupError", "Call", "Client", "IPCConnectionError", "IPCError",
    "IPCMessageSizeError", "IPCToolExecutionError", "Link", "RPCError",
    "Server", "ToolError", "version",
]
