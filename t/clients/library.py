"""What the Python package of docs/examples does, told as lines of TAP."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import queue
import socket
import stat
import subprocess
import sys
import threading
import time
import weakref
from typing import Any, Callable, Literal, Optional

from toolgate import (BridgeStartupError, Call, Client, IPCConnectionError,
                      IPCMessageSizeError, IPCToolExecutionError,
                      NotFoundError, RPCError, Server, ToolError, version)

BRIDGE = sys.argv[1] if len(sys.argv) > 1 else ""


def ok(fine: object, name: str) -> None:
    print("ok" if fine else "not ok", "-", name, flush=True)


def same(got: object, wanted: object, name: str) -> None:
    ok(got == wanted, name)
    if got != wanted:
        print(f"# got {got!r}, not {wanted!r}", flush=True)


def raises(kind: type[Exception], text: str, do: Callable[[], object],
           name: str) -> None:
    try:
        do()
        got = "nothing"
    except Exception as error:
        got = f"{type(error).__name__}: {error}"
    ok(got.startswith(kind.__name__ + ": ") and text in got, name)
    if text not in got:
        print(f"# {got}", flush=True)


class Peer:
    """Of the socket, in JSON-RPC."""

    def __init__(self, path: Optional[str]) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(path or "")
        self.file = self.socket.makefile("r", encoding="utf-8")
        self.last = 0

    def send(self, method: str, **params: Any) -> int:
        self.last += 1
        self.socket.sendall(json.dumps({
            "jsonrpc": "2.0", "id": self.last, "method": method,
            "params": params}).encode() + b"\n")
        return self.last

    def send_note(self, method: str, **params: Any) -> None:
        self.socket.sendall(json.dumps({
            "jsonrpc": "2.0", "method": method, "params": params,
        }).encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.file.readline())
        return message

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.send(method, **params)
        return self.receive()

    def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = self.ask("tools/call", name=name, arguments=arguments)
        result: dict[str, Any] = answer.get("result") or answer["error"]
        return result

    def text(self, name: str, **arguments: Any) -> str:
        return str(self.call(name, **arguments)["content"][0]["text"])

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def threads() -> int:
    """Of the process, as the kernel counts them."""
    return len(os.listdir("/proc/self/task"))


def threads_left() -> int:
    """A thread that has ended is counted until the kernel is done with it."""
    for _ in range(6000):
        if threads() == 1:
            break
        time.sleep(0.01)
    return threads()


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


# --- tools ---

def tools() -> None:
    server = Server("tools", instructions="Be kind.")
    gone = threading.Event()

    @server.tool
    def join(words: list[str], by: Literal[" ", "-"] = " ",
             end: Optional[str] = None) -> str:
        """Joins words.

        This is not told.
        """
        return by.join(words) + (end or "")

    @server.tool(output="json", output_schema={
        "type": "object", "properties": {"sum": {"type": "integer"}}})
    def add(a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}

    @server.tool
    def refuse() -> str:
        raise ToolError("not today", "DayError")

    @server.tool
    def wrong() -> str:
        return {}["key"]  # type: ignore

    @server.tool
    def work(call: Call, steps: int) -> str:
        for i in range(steps):
            call.progress(i + 1, steps, "working")
        call.cancelled.wait(60)
        gone.set()
        return "late"

    @server.tool
    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return text

    @server.tool
    def large(size: int) -> str:
        return "x" * size

    def half(of: int) -> int:
        if of % 2:
            raise RPCError(-32050, "it is odd", {"of": of})
        return of // 2

    server.add_method("half", half)
    with server:
        client = Peer(server.socket)
        listed = {tool["name"]: tool
                  for tool in client.ask("tools/list")["result"]["tools"]}
        same(list(listed), ["join", "add", "refuse", "wrong", "work", "later",
                            "large"], "tools are listed in their order")
        same(listed["join"]["description"], "Joins words.",
             "with the first paragraph of their documentation")
        same(listed["join"]["inputSchema"], {
            "type": "object", "required": ["words"],
            "properties": {
                "words": {"type": "array", "items": {"type": "string"}},
                "by": {"enum": [" ", "-"], "default": " "},
                "end": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "additionalProperties": False}, "and their types as a schema")
        same(listed["work"]["inputSchema"]["required"], ["steps"],
             "the call itself is no argument")
        same(client.text("join", words=["ä", "b"], by="-"), "ä-b", "a call")
        same(client.text("join", words=["a", "b"], end="!"), "a b!",
             "with defaults")
        ok(client.call("join", words="a")["isError"],
           "arguments that do not fit are refused")
        same(client.call("add", a=1, b=2)["structuredContent"], {"sum": 3},
             "JSON is structured")
        result = client.call("refuse")
        same((result["isError"], result["content"][0]["text"],
              result["_meta"]["toolgate/errorType"]),
             (True, "not today", "DayError"), "a tool's error, with its class")
        same(client.call("wrong")["_meta"]["toolgate/errorType"], "KeyError",
             "any other exception is told, too")
        same(client.text("later", text="x"), "x", "a coroutine")
        same(client.ask("half", of=4)["result"], 2, "a method")
        same(client.ask("half", of=3)["error"],
             {"code": -32050, "message": "it is odd", "data": {"of": 3}},
             "and its error")
        same(len(client.text("large", size=10_000_000)), 10_000_000,
             "ten megabytes")

        client.send("tools/call", name="work", arguments={"steps": 3},
                    _meta={"progressToken": "p"})
        same(client.receive()["params"]["message"], "working", "progress")
        same(server.clients, 1, "clients are counted")
        client.close()
        ok(gone.wait(60), "who has gone is worked for no more")


def lists() -> None:
    server = Server("lists")
    server.add_tool("a", lambda: "a")
    with server:
        client = Peer(server.socket)
        client.ask("initialize", protocolVersion="2025-11-25",
                   capabilities={}, clientInfo={"name": "c", "version": "1"})
        client.send("ping")
        same(client.receive()["id"], client.last, "initialized")
        server.add_tool("b", lambda: "b", description="Says b.")
        same(client.receive()["method"], "notifications/tools/list_changed",
             "a tool that comes is told")
        names = [tool["name"] for tool in
                 client.ask("tools/list")["result"]["tools"]]
        same(names, ["a", "b"], "and listed")
        server.filter(lambda name: name != "a")
        client.receive()
        ok("error" in client.ask("tools/call", name="a"), "a filter holds")
        server.filter()
        client.receive()
        same(client.text("a"), "a", "and is taken back")
        server.remove_tool("b")
        client.receive()
        ok("error" in client.ask("tools/call", name="b"),
           "a tool that was removed")
        server.notify("news", {"n": 1})
        same(client.receive()["params"], {"n": 1}, "a notification")
        client.close()
    raises(ValueError, "unknown option", lambda: server.set("nope", "1"),
           "an option that there is not")
    raises(ValueError, "input_schema",
           lambda: server.add_tool("c", lambda: "c", input_schema={
               "type": "nope"}), "a schema that is none")
    raises(ValueError, "cannot be passed by name",
           lambda: server.add_tool("d", lambda *words: "d"),
           "arguments without names")
    server.close()
    raises(RuntimeError, "closed", server.start, "a server that was closed")


# --- what a host may do wrong, and is told ---

class Told(logging.Handler):
    """What is logged, as lines."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def misuse() -> None:
    told = Told()
    log = logging.getLogger("toolgate")
    log.addHandler(told)
    log.setLevel(logging.WARNING)
    log.propagate = False
    server = Server("misuse", threads=2)

    @server.tool
    def take(**more: Any) -> str:
        return "took"

    @server.tool
    def half() -> str:
        raise ToolError("half of \ud800", "Odd\ud800Error")

    class Strange(Exception):
        type = 7

        def __str__(self) -> str:
            raise KeyError("no text")

    @server.tool
    def strange() -> str:
        raise Strange()

    @server.tool
    def stop() -> str:
        server.stop()
        stopped.set()
        return "late"

    def odd() -> int:
        raise RPCError(-32050, "it is odd", object())

    server.add_method("odd", odd)
    stopped = threading.Event()
    with server:
        raises(RuntimeError, "already started", server.start,
               "to start it twice is refused")
        client = Peer(server.socket)
        same(client.text("take"), "took", "and it serves on")
        client.last += 1
        client.socket.sendall(
            b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":'
            b'{"name":"take","arguments":{"a":%s}}}\n'
            % (client.last, b"1" * 5000))
        same(client.receive()["id"], client.last,
             "a number that is too long for Python has an answer")
        for i in range(4):
            same(client.call("half")["_meta"]["toolgate/errorType"],
                 "Odd?Error", f"half a character in an error, {i}")
            same(client.call("strange")["_meta"]["toolgate/errorType"],
                 "KeyError", f"an error without a text, {i}")
            ok("error" in client.ask("odd"), f"data that are no JSON, {i}")
        same(client.text("take"), "took", "no thread was lost by that")

        def wanted(name: str) -> bool:
            raise LookupError("which?")

        raises(LookupError, "which?", lambda: server.filter(wanted),
               "what a filter raises comes to who asked")
        same(client.text("take"), "took", "and it hides nothing")
        raises(ValueError, "time", lambda: server.add_tool(
            "bad", lambda: "", timeout="soon"), "a tool with a wrong option")
        ok("error" in client.ask("tools/call", name="bad"), "is not offered")

        def add(part: int) -> None:
            for i in range(part, part + 40):
                server.add_tool(f"n{i}", lambda i=i: str(i), input_schema={"type": "object"})

        adding = [threading.Thread(target=add, args=(part,))
                  for part in range(0, 160, 40)]
        for thread in adding:
            thread.start()
        while any(thread.is_alive() for thread in adding):
            client.text("take")
        same([client.text(f"n{i}") for i in range(160)],
             [str(i) for i in range(160)],
             "tools that threads add while others call are the right ones")

        heard = threading.Event()

        def message(text: dict[str, Any]) -> None:
            heard.set()
            raise KeyError("in a link")

        told.lines.clear()
        server.link(message).send(
            {"jsonrpc": "2.0", "id": 1, "method": "ping"})
        gc.collect()
        ok(heard.wait(60), "a link that nobody keeps hears its answer")
        link = server.link(lambda text: None)
        link.close()
        link.close()
        raises(RuntimeError, "closed", lambda: link.send({}),
               "a link that was closed")
        same(told.lines, ["a link's function failed"],
             "what a link's function raises is logged")
        client.send("tools/call", name="stop", arguments={})
        ok(stopped.wait(60), "a tool that stops its server comes back")
        client.close()
    log.removeHandler(told)
    log.propagate = True
    log.setLevel(logging.CRITICAL)


# --- the other end ---

def clients() -> None:
    server = Server("other")
    go = threading.Event()

    @server.tool
    def add(a: int, b: int = 1) -> str:
        return str(a + b)

    @server.tool
    def wait() -> str:
        go.wait(60)
        return "waited"

    @server.tool
    def refuse() -> str:
        raise ToolError("not today", "DayError")

    @server.tool
    def echo(text: str) -> str:
        return text

    def half(of: int) -> int:
        if of % 2:
            raise RPCError(-32050, "it is odd", {"of": of})
        return of // 2

    server.add_method("half", half)
    raises(ValueError, "unknown option", lambda: Client(nope="1"),
           "an option of a client that there is not")
    news: list[Any] = []
    heard = threading.Event()
    lost = threading.Event()

    def notified(method: str, params: Any) -> None:
        news.append((method, params))
        raises(RuntimeError, "cannot wait", lambda: client.call("add"),
               "a notification's function may not ask")
        heard.set()
        raise KeyError("is logged")

    def connected(is_connected: bool, why: Optional[str]) -> None:
        if not is_connected:
            news.append(why)
            lost.set()

    client = Client(server.socket, notified, connected, grace="1ms")
    raises(IPCConnectionError, "nothing listens", client.open, "nobody there")
    raises(RuntimeError, "not open", lambda: client.call("add"),
           "one that is not open")
    server.start()
    with client:
        ok(client.is_connected, "it is connected")
        same([tool["name"] for tool in client.list()],
             ["add", "wait", "refuse", "echo"], "a list")
        same(client.call("add", {"a": 2})["content"][0]["text"], "3", "a call")
        same(client.request("half", {"of": 8}), 4, "a method")
        try:
            client.call("refuse")
        except IPCToolExecutionError as error:
            same((str(error), error.result["_meta"]["toolgate/errorType"]),
                 ("not today", "DayError"), "a tool that says no")
        try:
            client.request("half", {"of": 7})
        except IPCToolExecutionError as error:
            same((str(error), error.result["data"]), ("it is odd", {"of": 7}),
                 "so does a method")
        raises(TimeoutError, "within 50 ms", lambda: client.call(
            "wait", timeout=0.05), "a call has its time")
        go.set()
        raises(ValueError, "seconds", lambda: client.call("add", timeout=0),
               "a time that is none")
        raises(RuntimeError, "already open", client.open, "it opens once")
        texts: dict[int, str] = {}

        def many(part: int) -> None:
            for i in range(part, part + 50):
                texts[i] = client.call("add", {"a": i})["content"][0]["text"]

        asking = [threading.Thread(target=many, args=(part,))
                  for part in range(0, 400, 50)]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        same(texts, {i: str(i + 1) for i in range(400)},
             "many threads at once")
        large: list[bool] = []

        def much(letter: str) -> None:
            text = letter * 9_000_000
            answer = client.call("echo", {"text": text})
            large.append(answer["content"][0]["text"] == text)

        asking = [threading.Thread(target=much, args=(letter,))
                  for letter in "abc"]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        same(large, [True] * 3, "nine megabytes there and back, at once")
        for size in (11_000_000, 68_000_000):
            raises(IPCMessageSizeError, "large", lambda: client.call(
                "echo", {"text": "x" * size}), f"{size} bytes are too many")
        same(client.call("echo", {"text": "on"})["content"][0]["text"], "on",
             "and it goes on")
        server.notify("event.done", {"a": 1})
        ok(heard.wait(60) and news.pop() == ("event.done", {"a": 1}),
           "a notification")
        server.stop()
        ok(lost.wait(60) and not client.is_connected and news.pop(),
           "a connection that is lost")
        raises(IPCConnectionError, "not executed", lambda: client.call("add"),
               "nobody is waited for too long")
    raises(RuntimeError, "not open", client.list, "it was closed")
    before = descriptors()
    with server, client:
        same(client.call("add", {"a": 1})["content"][0]["text"], "2",
             "it opens again")
    same(descriptors(), before, "and leaves no descriptor")
    reference = weakref.ref(client)
    server.start()
    client.open()
    del client
    gc.collect()
    ok(reference() is None, "one that nobody has any more is gone")
    server.stop()


# --- prompts and resources ---

def resources() -> None:
    server = Server("items")
    log: list[str] = ["first"]

    @server.prompt
    def review(commit: str, focus: str = "all", *, call: Call) -> str:
        """Reviews a commit.

        Not in the list.
        """
        return f"Review {commit}, {focus}, {type(call).__name__}."

    @server.prompt(name="talk", title="A talk")
    async def talked() -> list[tuple[str, str]]:
        return [("user", "a"), ("assistant", "b")]

    @server.prompt
    def whole() -> dict[str, Any]:
        return {"messages": [], "description": "none"}

    @server.resource("log:all", mime="text/plain", title="The log")
    def all_lines() -> str:
        """Every line."""
        return "\n".join(log)

    @server.resource("log:bytes")
    def raw() -> bytes:
        return b"\xff\0"

    @server.resource("log:///{line}", name="line")
    def one_line(line: str) -> str:
        if not line.isdigit() or int(line) >= len(log):
            raise NotFoundError(line)
        return log[int(line)]

    @server.resource("log:numbers")
    async def numbers() -> list[int]:
        return [1, 2]

    @server.complete("review", "commit")
    def commits(focus: str) -> list[str]:
        return ["HEAD", "HEAD~1", "main", f"of {focus}"]

    @server.complete("log:///{line}", "line")
    async def known_lines() -> list[str]:
        return [str(line) for line in range(len(log))]

    raises(ValueError, 'has no argument "x"',
           lambda: server.complete("review", "x")(known_lines),
           "a completion of an unknown argument")

    def number(count: int) -> str:
        return str(count)

    raises(ValueError, '"count" of number() must be a str',
           lambda: server.add_prompt("number", number),
           "an argument of a prompt that is a number")
    raises(ValueError, "unknown option",
           lambda: server.add_prompt("bad", talked, mime="x"),
           "an option that prompts do not have")
    raises(ValueError, "MIME type",
           lambda: server.add_resource("log:bad", raw, mime="x"),
           "a bad MIME type")
    updates: queue.SimpleQueue[str] = queue.SimpleQueue()
    news: queue.SimpleQueue[str] = queue.SimpleQueue()

    def updated(uri: str) -> None:
        updates.put(uri)
        raise KeyError("is logged")

    def notified(method: str, params: Any) -> None:
        news.put(method)

    with server, Client(server.socket, notified, updated=updated) as client:
        prompts = client.prompts()
        same([prompt["name"] for prompt in prompts],
             ["review", "talk", "whole"], "prompts")
        same(prompts[0], {
            "name": "review", "description": "Reviews a commit.",
            "arguments": [{"name": "commit", "required": True},
                          {"name": "focus", "required": False}],
        }, "a prompt of a function")
        same(prompts[1].get("title"), "A talk", "its title")

        def said(name: str, **arguments: str) -> list[tuple[str, str]]:
            return [(one["role"], one["content"]["text"]) for one in
                    client.prompt(name, arguments)["messages"]]

        same(said("review", commit="1"), [("user", "Review 1, all, Call.")],
             "a text is one message")
        same(said("talk"), [("user", "a"), ("assistant", "b")],
             "messages of a coroutine")
        same(client.prompt("whole"), {"messages": [], "description": "none"},
             "a whole result")
        raises(IPCToolExecutionError, "commit", lambda: client.prompt("review"),
               "a missing argument")

        same([(one["uri"], one["name"]) for one in client.resources()],
             [("log:all", "all_lines"), ("log:bytes", "raw"),
              ("log:numbers", "numbers")], "resources")
        same(client.resources()[0], {
            "uri": "log:all", "name": "all_lines", "title": "The log",
            "description": "Every line.", "mimeType": "text/plain",
        }, "a resource of a function")
        same([one["uriTemplate"] for one in client.templates()],
             ["log:///{line}"], "templates")
        same(client.read("log:all"),
             [{"uri": "log:all", "mimeType": "text/plain", "text": "first"}],
             "a text")
        same(client.read("log:bytes")[0]["blob"], "/wA=", "bytes")
        same(client.read("log:numbers")[0]["text"], "[1, 2]", "JSON")
        same(client.read("log:///0")[0]["text"], "first", "a template")
        for uri in "log:///7", "log:nothing":
            try:
                client.read(uri)
                ok(False, uri)
            except IPCToolExecutionError as error:
                same((error.result["code"], error.result["data"]),
                     (-32002, {"uri": uri}), f"{uri} is unknown")

        ref = {"type": "ref/prompt", "name": "review"}
        same(client.complete(ref, "commit", "h"), ["HEAD", "HEAD~1"],
             "values for an argument")
        same(client.complete(ref, "commit", "of", {"focus": "a", "x": "b"}),
             ["of a"], "by another argument")
        same(client.complete({"type": "ref/resource", "uri": "log:///{line}"},
                             "line"), ["0"], "values for a variable")

        client.subscribe("log:all")
        server.updated("log:bytes")
        server.updated("log:all")
        same(updates.get(timeout=60), "log:all", "a resource has changed")
        client.unsubscribe("log:all")
        server.updated("log:all")
        while not news.empty():
            news.get()
        server.remove_prompt("talk")
        same(news.get(timeout=60), "notifications/prompts/list_changed",
             "a change of the prompts")
        server.set_resource("log:bytes", "title", "Bytes")
        same(news.get(timeout=60), "notifications/resources/list_changed",
             "a change of the resources")
        server.remove_resource("log:///{line}")
        same(client.templates(), [], "a template that was removed")
        ok(updates.empty(), "nothing was reported twice")


# --- its life ---

def life() -> None:
    server = Server("life")
    before = descriptors()
    with server:
        first = server.socket, server.schema_file
        for path in first:
            same(stat.S_IMODE(os.stat(path or "").st_mode), 0o600,
                 f"mode of {os.path.splitext(path or '')[1]}")
        entry = server.agent_config()["mcpServers"]["life"]
        same(entry["args"][:2], list(first), "the agent is told both")
    ok(not any(os.path.exists(path or "") for path in first),
       "both are gone at the end")
    try:
        with server:
            raise KeyError("in the middle")
    except KeyError:
        ok(not os.path.exists(server.socket or ""),
           "also after an exception in the middle")
    for _ in range(1000):
        with server:
            pass
    same((threads_left(), descriptors()), (1, before),
         "1,000 starts leave no thread and no descriptor")
    if BRIDGE:
        server.set("bridge", BRIDGE)
        with server:
            server.check_bridge(60)
            ok(True, "the bridge comes up")
    server.set("bridge", "/bin/false")
    with server:
        raises(BridgeStartupError, "", lambda: server.check_bridge(60),
               "a bridge that does not")
    path = server.socket or ""
    server.start()
    reference = weakref.ref(server)
    del server
    gc.collect()
    ok(reference() is None and not os.path.exists(path),
       "a server that nobody has any more is gone")


STOPPED = "work: the server was stopped before the response.\n"


def ends(how: str) -> None:
    """An interpreter that ends while a tool runs; or after a fork."""
    program = """
import os, sys, threading
from toolgate import Call, Server
server = Server("ends")
began = threading.Event()
@server.tool
def work(call: Call) -> str:
    began.set()
    call.cancelled.wait()
    return "late"
server.start()
link = server.link(lambda message: None)
link.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
           "params": {"name": "work"}})
began.wait()
print(server.socket, server.schema_file)
sys.stdout.flush()
""" + how
    done = subprocess.run([sys.executable, "-c", program], timeout=120,
                          capture_output=True, text=True)
    files = done.stdout.split()
    same((len(files), [p for p in files if os.path.exists(p)], done.stderr),
         (2, [], STOPPED), "nothing is left at the end, after: " + how.replace("\n", ";"))


# --- coroutines without a loop of the program's ---

def coroutines() -> None:
    """Those that hang are cancelled, and hold up nobody."""
    server = Server("hang", threads=2)
    began: queue.SimpleQueue[str] = queue.SimpleQueue()
    ended: queue.SimpleQueue[str] = queue.SimpleQueue()

    async def wait_for_ever(how: str) -> str:
        began.put(how)
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            ended.put(how)
            raise
        return "late"

    @server.tool(timeout="100ms")
    async def brief() -> str:
        return await wait_for_ever("brief")

    @server.tool
    async def hang() -> str:
        return await wait_for_ever("hang")

    def made() -> Any:
        return wait_for_ever("made")

    server.add_tool("made", made)

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    def block() -> str:
        return threading.current_thread().name

    def call(peer: Peer, name: str) -> int:
        return peer.send("tools/call", name=name, arguments={})

    with server:
        peer, other = Peer(server.socket), Peer(server.socket)
        hung = [call(peer, name) for name in ["hang", "made"] * 8]
        for _ in hung:
            began.get(timeout=60)
        same(other.text("echo", text="hi"), "hi",
             "with 16 that hang, a coroutine is called")
        ok(other.text("block").startswith("toolgate-"), "and a function")
        late = [call(other, "brief") for _ in range(8)]
        told = [other.receive() for _ in late]
        ok(all("100 ms" in answer["result"]["content"][0]["text"]
               for answer in told), "those that take too long are told so")
        same([ended.get(timeout=60) for _ in late], ["brief"] * 8,
             "and are cancelled")
        peer.send_note("notifications/cancelled", requestId=hung[1])
        same(ended.get(timeout=60), "made",
             "a client cancels what a function has made")
        other.socket.close()
    same(sorted(ended.get(timeout=60) for _ in hung[1:]),
         ["hang"] * 8 + ["made"] * 7, "the end cancels the others")
    ok(ended.empty(), "each once")
    with server:
        same(Peer(server.socket).text("echo", text="again"), "again",
             "and it may be started again")
    same(threads_left(), 1, "no thread is left")


# --- in asyncio's loop ---

async def in_loop() -> None:
    server = Server("loop")
    began, cancelled = asyncio.Event(), asyncio.Event()

    @server.tool
    async def nap(seconds: float) -> str:
        began.set()
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return threading.current_thread().name

    @server.tool
    def block() -> str:
        return threading.current_thread().name

    async with server:
        heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        link = server.link(heard.put_nowait)

        def call(number: int, name: str, **arguments: Any) -> None:
            link.send({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                       "params": {"name": name, "arguments": arguments}})

        def text(answer: dict[str, Any]) -> str:
            return str(answer["result"]["content"][0]["text"])

        for i in range(100):
            call(i, "nap", seconds=0.01)
        answers = [await heard.get() for i in range(100)]
        same(sorted(answer["id"] for answer in answers), list(range(100)),
             "100 coroutines at once")
        same(text(answers[0]), "MainThread", "in the loop's thread")
        call(100, "block")
        ok(text(await heard.get()).startswith("toolgate-"),
           "what may block is in another")
        began.clear()
        call(101, "nap", seconds=3600)
        await began.wait()
        link.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                   "params": {"requestId": 101}})
        await cancelled.wait()
        ok(True, "a call that is cancelled cancels its coroutine")
        cancelled.clear()
        began.clear()
        call(102, "nap", seconds=3600)
        await began.wait()
        link.close()
    ok(cancelled.is_set(), "and so does the end")
    async with server:
        server.stop()
    ok(not os.path.exists(server.socket or ""), "stopped in the midst of it")
    ok(not os.path.exists(server.socket or ""), "the socket is gone")
    with server:
        client = Peer(server.socket)
        same(client.text("nap", seconds=0).split("-")[0], "toolgate",
             "the same server in threads afterwards")
        client.close()


logging.getLogger("toolgate").setLevel(logging.CRITICAL)
ok(version().count(".") == 2, "the library's version")
tools()
lists()
misuse()
clients()
resources()
coroutines()
life()
ends("")
ends("sys.exit(3)")
ends("raise SystemExit")
ends("sys.exit(os.wait()[1]) if os.fork() else server.close()")
ends("os.wait() if os.fork() else sys.exit()")
ends("from toolgate import Client; other = Client(server.socket); "
     "other.open(); other.list()")
asyncio.run(in_loop())
