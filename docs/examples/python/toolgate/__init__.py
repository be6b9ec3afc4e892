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

Prompts and resources are functions, too:

    @server.prompt
    def review(commit: str) -> str:
        "Reviews a commit."
        return f"Review the commit {commit}."

    @server.resource("notes:///{name}", mime="text/plain")
    def note(name: str) -> str:
        return notes[name]

It needs only Python's standard library and libtoolgate.so.  docs/library.md of
Toolgate describes the library.
"""

from ._entry import Call
from ._library import version
from .client import Client
from .errors import (BridgeStartupError, IPCConnectionError, IPCError,
                     IPCMessageSizeError, IPCToolExecutionError,
                     NotFoundError, RPCError, ToolError)
from .server import Link, Server

__all__ = [
    "BridgeStartupError", "Call", "Client", "IPCConnectionError", "IPCError",
    "IPCMessageSizeError", "IPCToolExecutionError", "Link", "NotFoundError",
    "RPCError", "Server", "ToolError", "version",
]
