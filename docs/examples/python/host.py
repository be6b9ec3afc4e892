#!/usr/bin/env python3
"""A server with two tools, a fast function and a slow one with progress, a
prompt, and notes as resources.

    ./host.py >mcp.json &
    claude --mcp-config mcp.json

It exits at the end of its standard input.
"""

import json
import sys
import time
from typing import Literal

from toolgate import Call, NotFoundError, Server, ToolError

NOTES = {"monday": "Release the library.", "tuesday": "Write the report."}

server = Server("notes", instructions="Counts words, and waits.")


@server.tool
def count(text: str, what: Literal["words", "lines"] = "words") -> str:
    """Counts the words or lines of a text."""
    return str(len(text.split() if what == "words" else text.splitlines()))


@server.tool(timeout="5s")
def wait(seconds: float, call: Call) -> str:
    """Waits, and reports the remaining time."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        call.progress(int((seconds - left) * 1000), int(seconds * 1000),
                      f"{left:.0f} s left")
        if call.cancelled.wait(min(left, 1)):
            raise ToolError("cancelled")
    return "done"


@server.prompt
def plan(day: str, focus: str = "the most important task") -> str:
    """Plans a day."""
    return f"Plan my {day} with a focus on {focus}. Use the note of that day."


@server.resource("notes:///{day}", mime="text/plain")
def note(day: str) -> str:
    """The note of a day."""
    if day not in NOTES:
        raise NotFoundError(day)
    return NOTES[day]


if __name__ == "__main__":
    with server:
        print(json.dumps(server.agent_config()), flush=True)
        sys.stdin.read()
