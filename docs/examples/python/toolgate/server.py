"""A server whose tools are functions."""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import inspect
import itertools
import json
import logging
import os
import threading
import weakref
from typing import Any, Callable, Coroutine, TypeVar, overload

from . import _library as lib
from ._entry import Call, Entry
from ._threads import Loop, Pool, Tasks
from .errors import NotFoundError, RPCError, ToolError

Function = TypeVar("Function", bound=Callable[..., Any])

_log = logging.getLogger("toolgate")
_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def _kind_of(uri: str) -> str:
    return "template" if "{" in uri else "resource"


class Server:
    """Serves tools, prompts and resources on its own socket between start() and stop().

    `with server:` runs the server in a thread of the library, coroutines in
    an asyncio loop in another thread, and other tools in a thread pool.
    `async with server:` runs the server and coroutines in the current asyncio
    loop, and other tools in the pool.  docs/library.md lists the options,
    such as "instructions".
    """

    def __init__(self, name: str, threads: int = 8, **options: str) -> None:
        self._handle: int | None = lib.ask("server_new", name.encode())
        if not self._handle:
            raise ValueError(lib.last_error())
        self._pid = os.getpid()
        self._threads = threads
        self._pool: Pool | None = None
        self._own: Loop | None = None  # runs coroutines in a thread
        self._own_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: Tasks = set()
        self._fd = -1  # descriptor that asyncio's loop watches
        self._entries: dict[int, Entry] = {}
        self._numbers = itertools.count(1)
        self._names: dict[str, None] = {}
        self._calls: dict[int, Call] = {}
        # Keeps links alive that may still receive messages.
        self._links: set[Link] = set()
        # The library keeps their addresses, so they must not be freed.
        self._called = lib.CALLED(self._on_call)
        self._cancelled = lib.CANCELLED(self._on_cancel)
        self._reported = lib.REPORT(self._on_report)
        self._do("on_cancel", self._cancelled, None)
        self._do("on_report", self._reported, None)
        for option, value in options.items():
            self.set(option, value)
        _servers.add(self)

    def _live(self) -> int:
        if not self._handle:
            raise RuntimeError("the server was closed")
        return self._handle

    def _do(self, function: str, *arguments: Any) -> bool:
        return lib.do(function, self._live(), *arguments)

    def _ask(self, function: str) -> Any:
        return lib.ask(function, self._live())

    # --- tools and methods ---

    @overload
    def tool(self, function: Function) -> Function: ...

    @overload
    def tool(self, function: None = None, *, name: str | None = None,
             **options: Any) -> Callable[[Function], Function]: ...

    def tool(self, function: Function | None = None, *,
             name: str | None = None, **options: Any) -> Any:
        """Adds a function as a tool: @server.tool, or
        @server.tool(timeout="5s").

        The tool has the function's name, the first paragraph of its docstring
        and a schema from its types.  A returned string becomes a text, other
        values become JSON.
        """
        def add(function: Function) -> Function:
            self.add_tool(name or function.__name__, function, **options)
            return function

        return add(function) if function else add

    def add_tool(self, name: str, function: Callable[..., Any],
                 **options: Any) -> None:
        entry = Entry(function, "tool")
        schema = options.pop("input_schema", entry.schema)
        text = (inspect.getdoc(function) or "").split("\n\n")[0]
        self._do("add_tool", name.encode(),
                 lib.text_of(options.pop("description", text or None)),
                 lib.json_of(schema), self._called, self._keep(entry))
        self._names[name] = None
        try:
            for option, value in options.items():
                self.set_tool(name, option, value)
        except BaseException:
            self.remove_tool(name)
            raise

    def add_method(self, name: str, function: Callable[..., Any]) -> None:
        """Adds a function as a JSON-RPC method with params by name."""
        entry = Entry(function, "method")
        self._do("add_method", name.encode(), self._called, self._keep(entry))
        try:
            self._do("set_method", name.encode(), b"input_schema",
                     lib.json_of(entry.schema))
        except BaseException:
            self._do("remove_method", name.encode())
            raise

    # --- prompts and resources ---

    @overload
    def prompt(self, function: Function) -> Function: ...

    @overload
    def prompt(self, function: None = None, *, name: str | None = None,
               **options: Any) -> Callable[[Function], Function]: ...

    def prompt(self, function: Function | None = None, *,
               name: str | None = None, **options: Any) -> Any:
        """Adds a function as a prompt, as tool() adds a tool.

        Its parameters are texts. It returns a text, a list of messages such as
        ("assistant", "text"), or {"messages": [...]}.
        """
        def add(function: Function) -> Function:
            self.add_prompt(name or function.__name__, function, **options)
            return function

        return add(function) if function else add

    def add_prompt(self, name: str, function: Callable[..., Any],
                   **options: Any) -> None:
        entry = Entry(function, "prompt")
        arguments = options.pop("arguments", None) or entry.arguments()
        text = (inspect.getdoc(function) or "").split("\n\n")[0]
        self._do("add_prompt", name.encode(),
                 lib.text_of(options.pop("description", text or None)),
                 lib.json_of(arguments), self._called, self._keep(entry))
        self._set_all("prompt", name, {"output": "result", **options})

    def set_prompt(self, name: str, option: str, value: Any) -> None:
        self._set("prompt", name, option, value)

    def remove_prompt(self, name: str) -> None:
        self._do("remove_prompt", name.encode())

    def resource(self, uri: str,
                 **options: Any) -> Callable[[Function], Function]:
        """Adds a function as a resource, or as a template such as
        "notes:///{path}", whose variables are its parameters.

        It returns a text or bytes; other values become JSON. It raises
        NotFoundError if a template has no such resource.
        """
        def add(function: Function) -> Function:
            self.add_resource(uri, function, **options)
            return function

        return add

    def add_resource(self, uri: str, function: Callable[..., Any],
                     **options: Any) -> None:
        entry = Entry(function, "resource")
        kind = _kind_of(uri)
        text = (inspect.getdoc(function) or "").split("\n\n")[0]
        options.setdefault("description", text or None)
        self._do("add_" + kind, lib.text_of(uri),
                 lib.text_of(options.pop("name", function.__name__)),
                 lib.text_of(options.pop("mime", None)), self._called,
                 self._keep(entry))
        self._set_all(kind, uri, options)

    def set_resource(self, uri: str, option: str, value: Any) -> None:
        self._set(_kind_of(uri), uri, option, value)

    def remove_resource(self, uri: str) -> None:
        self._do("remove_" + _kind_of(uri), lib.text_of(uri))

    def complete(self, name: str,
                 argument: str) -> Callable[[Function], Function]:
        """Makes a function suggest the values of an argument of a prompt, or
        of a template, whose text is the name.

        Its parameters are those arguments that it needs, empty if unknown.  It
        returns a list of texts, from which clients get those that match.
        """
        kind = "template" if "{" in name else "prompt"

        def add(function: Function) -> Function:
            self._do("complete_" + kind, lib.text_of(name),
                     lib.text_of(argument), self._called,
                     self._keep(Entry(function, "completion")))
            return function

        return add

    def updated(self, uri: str) -> None:
        """Notifies the clients that are subscribed to a resource."""
        self._do("updated", lib.text_of(uri))

    def _set(self, kind: str, name: str, option: str, value: Any) -> None:
        self._do("set_" + kind, lib.text_of(name), option.encode(),
                 lib.text_of(value) if isinstance(value, (str, type(None)))
                 else lib.json_of(value))

    def _set_all(self, kind: str, name: str, options: dict[str, Any]) -> None:
        try:
            for option, value in options.items():
                self._set(kind, name, option, value)
        except BaseException:
            self._do("remove_" + kind, lib.text_of(name))
            raise

    def _keep(self, entry: Entry) -> int:
        # Two threads that add at the same time get different numbers.
        number = next(self._numbers)
        self._entries[number] = entry
        return number

    def set_tool(self, name: str, option: str, value: Any) -> None:
        self._set("tool", name, option, value)

    def remove_tool(self, name: str) -> None:
        self._do("remove_tool", name.encode())
        self._names.pop(name, None)

    def filter(self, wanted: Callable[[str], bool] | None = None) -> None:
        """Sets which tools are listed from now on; None: all of them.

        If wanted() raises an exception, nothing changes.
        """
        # Called here, because exceptions in a callback are lost.
        known = list(self._names)
        hidden = ({name.encode() for name in known if not wanted(name)}
                  if wanted else set())

        def is_wanted(name: bytes, data: int) -> bool:
            return name not in hidden

        self._do("filter", lib.FILTER(is_wanted), None)

    def set(self, option: str, value: str) -> None:
        self._do("set", option.encode(), value.encode())

    # --- life cycle ---

    def start(self) -> None:
        if self._pool:
            # Raises: the server has been started already.
            self._do("start")
            return
        # Calls may arrive as soon as the server has started.
        self._pool = Pool(self._threads)
        try:
            self._do("start")
        except BaseException:
            self._end_pool()
            raise

    def stop(self) -> None:
        """Removes socket and file, ends open calls with an error, sets their
        `cancelled`, cancels coroutines, and waits for all of them."""
        self._leave_loop()
        self._do("stop")
        self._end_pool()

    def _leave_loop(self) -> None:
        fd, self._fd = self._fd, -1
        if self._loop and fd != -1:
            self._loop.remove_reader(fd)

    def _end_pool(self) -> None:
        pool, self._pool = self._pool, None
        if pool:
            pool.end()
        # A tool in the pool may have started another coroutine.
        with self._own_lock:
            own, self._own = self._own, None
        if own:
            own.end()

    def close(self) -> None:
        """Stops and frees the server, which cannot be used any more."""
        handle, self._handle = self._handle, None
        # After fork(), the server belongs to the parent process.
        if handle and self._pid == os.getpid():
            # Running tools may still use the server.
            self._leave_loop()
            lib.ask("stop", handle)
            self._end_pool()
            for link in list(self._links):
                link.close()
            lib.ask("server_free", handle)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stop()

    async def __aenter__(self) -> Server:
        self.set("loop", "fd")
        self._loop = asyncio.get_running_loop()
        try:
            self.start()
        except BaseException:
            self._out_of_loop()
            raise
        self._fd = self._ask("fd")
        self._loop.add_reader(self._fd, self._do, "process")
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._leave_loop()
        self._do("stop")
        # A tool in the pool may start another coroutine.
        await asyncio.to_thread(self._end_pool)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._out_of_loop()

    def _out_of_loop(self) -> None:
        self._loop = None
        self.set("loop", "thread")

    def __del__(self) -> None:
        self.close()

    # --- properties ---

    @property
    def socket(self) -> str | None:
        path = self._ask("socket")
        return path.decode() if path else None

    @property
    def schema_file(self) -> str | None:
        path = self._ask("schema_file")
        return path.decode() if path else None

    @property
    def clients(self) -> int:
        return int(self._ask("clients"))

    def agent_config(self) -> dict[str, Any]:
        """Returns the config of an agent: {"mcpServers": {...}}."""
        config: dict[str, Any] = json.loads(
            lib.take(self._ask("agent_config")))
        return config

    def check_bridge(self, seconds: float = 10.0) -> None:
        """Starts a bridge; raises BridgeStartupError with its stderr."""
        self._do("check_bridge", int(seconds * 1000))

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self._do("notify", method.encode(),
                 None if params is None else lib.json_of(params))

    def serve(self, read_fd: int, write_fd: int) -> None:
        """Serves a client on two descriptors, which the server closes."""
        self._do("serve", read_fd, write_fd)

    def link(self, message: Callable[[dict[str, Any]], None]) -> Link:
        """Connects a client in this process; message() receives for it."""
        return Link(self._live(), message, self._links)

    # --- calls, in the thread of the server's loop ---

    def _on_call(self, number: int, text: int, size: int, data: int) -> None:
        entry = self._entries[data]
        call = self._calls[number] = Call(number)
        arguments = ctypes.string_at(text, size)
        if inspect.iscoroutinefunction(entry.function):
            self._begin(entry, call, self._result(entry, call, arguments))
        elif self._pool:
            self._pool.submit(lambda: self._work(entry, call, arguments))

    def _on_cancel(self, number: int, data: int) -> None:
        call = self._calls.get(number)
        if call:
            call.cancelled.set()
            if call._loop:
                call._loop.call_soon_threadsafe(call._cancel)

    def _loop_of_call(self) -> tuple[asyncio.AbstractEventLoop, Tasks]:
        """Returns the loop for a coroutine, and its tasks."""
        if self._loop:
            return self._loop, self._tasks
        with self._own_lock:
            self._own = self._own or Loop()
            return self._own.asyncio, self._own.tasks

    def _begin(self, entry: Entry, call: Call,
               result: Coroutine[Any, Any, Any]) -> None:
        """Runs a coroutine in its loop; may be called in any thread."""
        loop, tasks = self._loop_of_call()

        def begin() -> None:
            task = call._task = loop.create_task(
                self._await(entry, call, result))
            tasks.add(task)
            task.add_done_callback(ended)
            # The call was cancelled already: run nothing.
            if call.cancelled.is_set():
                task.cancel()

        def ended(task: asyncio.Task[None]) -> None:
            # Avoids a warning if the coroutine was never started.
            result.close()
            tasks.discard(task)
            self._calls.pop(call.number, None)

        call._loop = loop
        if loop is asyncio._get_running_loop():
            begin()
        else:
            loop.call_soon_threadsafe(begin)

    def _on_report(self, code: int, message: bytes, data: int) -> None:
        _log.warning("%s", message.decode(errors="replace"))

    def _work(self, entry: Entry, call: Call, arguments: bytes) -> None:
        try:
            if not call.cancelled.is_set():
                result = entry.run(call, json.loads(arguments))
                if inspect.iscoroutine(result):
                    self._begin(entry, call, result)
                    return
                self._answer(call, entry, result)
        except BaseException as error:
            self._fail(call, entry, error)
        self._calls.pop(call.number, None)

    @staticmethod
    async def _result(entry: Entry, call: Call, arguments: bytes) -> Any:
        return await entry.run(call, json.loads(arguments))

    async def _await(self, entry: Entry, call: Call,
                     result: Coroutine[Any, Any, Any]) -> None:
        try:
            self._answer(call, entry, await result)
        except BaseException as error:
            self._fail(call, entry, error)
            if not isinstance(error, Exception):
                raise

    @staticmethod
    def _answer(call: Call, entry: Entry, result: Any) -> None:
        text = entry.text(result)
        lib.do("reply", call.number, text, len(text or b""))

    @staticmethod
    def _fail(call: Call, entry: Entry, error: BaseException) -> None:
        kind = getattr(error, "type", None)
        if not isinstance(kind, str):
            kind = type(error).__name__
        try:
            text = str(error) or kind
            if isinstance(error, NotFoundError) and entry.kind == "resource":
                lib.do("fail_unknown", call.number)
                return
            if isinstance(error, RPCError) and entry.kind != "tool":
                lib.do("fail_rpc", call.number, error.code, lib.text_of(text),
                       None if error.data is None else lib.json_of(error.data))
                return
        except Exception as other:
            # The error cannot be sent: report that error instead.
            error, kind = other, type(other).__name__
            text = str(other)
        if not isinstance(error, ToolError) and not call.cancelled.is_set():
            _log.error("%s() failed", entry.function.__name__, exc_info=error)
        lib.do("fail", call.number, lib.text_of(kind), lib.text_of(text))


class Link:
    """A client whose messages the program transports, until the link or its
    server is closed."""

    def __init__(self, handle: int, message: Callable[[dict[str, Any]], None],
                 links: set[Link]) -> None:
        def is_told(text: int, size: int, data: int) -> None:
            try:
                message(json.loads(ctypes.string_at(text, size)))
            except Exception:
                _log.exception("a link's function failed")

        self._message = lib.MESSAGE(is_told)
        self._handle: int | None = lib.ask("link_open", handle,
                                           self._message, None)
        if not self._handle:
            raise RuntimeError(lib.last_error())
        self._links = links
        links.add(self)

    def send(self, message: dict[str, Any]) -> None:
        if not self._handle:
            raise RuntimeError("the link was closed")
        text = lib.json_of(message)
        lib.do("link_send", self._handle, text, len(text))

    def close(self) -> None:
        """Cancels the link's calls.  No other thread may be in send()."""
        handle, self._handle = self._handle, None
        if handle:
            lib.ask("link_close", handle)
            self._links.discard(self)


@atexit.register
def _close_all() -> None:
    """Closes all before the interpreter, which the library calls, ends."""
    for server in list(_servers):
        server.close()
