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
import queue
import threading
import weakref
from typing import Any, Callable, Coroutine, Set, TypeVar, overload

from . import _library as lib
from ._schema import schema_of_arguments
from .errors import RPCError, ToolError

Function = TypeVar("Function", bound=Callable[..., Any])

_Tasks = Set["asyncio.Task[None]"]

_log = logging.getLogger("toolgate")
_servers: weakref.WeakSet[Server] = weakref.WeakSet()


class Call:
    """One call of a tool; a parameter of this type gets it."""

    def __init__(self, number: int) -> None:
        self.number = number
        # Nobody waits for it any more.
        self.cancelled = threading.Event()
        # Where its coroutine runs, if it is one.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def _cancel(self) -> None:
        if self._task:
            self._task.cancel()

    def progress(self, progress: int, total: int = 0,
                 message: str | None = None) -> bool:
        """How far it is; False: nobody waits for it any more."""
        return lib.do("progress", self.number, progress, total,
                      lib.text_of(message))


class _Entry:
    """What stands behind a tool or a method."""

    def __init__(self, function: Callable[..., Any], is_tool: bool) -> None:
        self.function = function
        self.is_tool = is_tool
        self.schema, self.call_name = schema_of_arguments(function, Call)

    def run(self, call: Call, arguments: Any) -> Any:
        if self.call_name:
            arguments[self.call_name] = call
        return self.function(**arguments)


class _Pool:
    """Threads for tools.  Not those of concurrent.futures: an interpreter
    that ends waits for them before it tells anybody that it ends."""

    def __init__(self, threads: int) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = (
            queue.SimpleQueue())
        self._threads = [threading.Thread(target=self._run, daemon=True,
                                          name=f"toolgate-{i}")
                         for i in range(threads)]
        for thread in self._threads:
            thread.start()

    def _run(self) -> None:
        while job := self._jobs.get():
            job()

    def submit(self, job: Callable[[], None]) -> None:
        self._jobs.put(job)

    def end(self) -> None:
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join()


class _Loop:
    """An asyncio loop in a thread of its own, where coroutines can be
    cancelled; it ends with the last of them after end()."""

    def __init__(self) -> None:
        self._started = threading.Event()
        self._thread = threading.Thread(target=asyncio.run,
                                        args=[self._run()], daemon=True,
                                        name="toolgate-asyncio")
        self._thread.start()
        self._started.wait()

    async def _run(self) -> None:
        self.asyncio = asyncio.get_running_loop()
        self.tasks: _Tasks = set()
        self._ended = asyncio.Event()
        self._started.set()
        await self._ended.wait()
        while self.tasks:
            await asyncio.wait(self.tasks)

    def end(self) -> None:
        self.asyncio.call_soon_threadsafe(self._ended.set)
        if self._thread is not threading.current_thread():
            self._thread.join()


class Server:
    """Tools on a socket of its own between start() and stop().

    `with server:` runs it in a thread of the library's, coroutines in an
    asyncio loop with a thread of its own and other tools in a pool of
    threads; `async with server:` runs it in asyncio's loop, with coroutines
    in that loop, too, and other tools in the pool.  options are those of
    docs/library.md, "instructions" for instance.
    """

    def __init__(self, name: str, threads: int = 8, **options: str) -> None:
        self._handle: int | None = lib.ask("server_new", name.encode())
        if not self._handle:
            raise ValueError(lib.last_error())
        self._pid = os.getpid()
        self._threads = threads
        self._pool: _Pool | None = None
        self._own: _Loop | None = None  # for coroutines, without asyncio's
        self._own_lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: _Tasks = set()
        self._fd = -1  # of asyncio's loop, which waits for it
        self._entries: dict[int, _Entry] = {}
        self._numbers = itertools.count(1)
        self._names: dict[str, None] = {}
        self._calls: dict[int, Call] = {}
        # A link that nobody has any more may still be told something.
        self._links: set[Link] = set()
        # The library has their addresses: they live as long as it does.
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
        """Offers a function: @server.tool, or @server.tool(timeout="5s").

        Its name, first paragraph of documentation and types are the tool's.
        A string that it returns is a text, anything else is JSON.
        """
        def add(function: Function) -> Function:
            self.add_tool(name or function.__name__, function, **options)
            return function

        return add(function) if function else add

    def add_tool(self, name: str, function: Callable[..., Any],
                 **options: Any) -> None:
        entry = _Entry(function, True)
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
        """Answers a method of JSON-RPC, whose params are an object."""
        entry = _Entry(function, False)
        self._do("add_method", name.encode(), self._called, self._keep(entry))
        try:
            self._do("set_method", name.encode(), b"input_schema",
                     lib.json_of(entry.schema))
        except BaseException:
            self._do("remove_method", name.encode())
            raise

    def _keep(self, entry: _Entry) -> int:
        # Two threads that add at once have two numbers.
        number = next(self._numbers)
        self._entries[number] = entry
        return number

    def set_tool(self, name: str, option: str, value: Any) -> None:
        self._do("set_tool", name.encode(), option.encode(),
                 lib.text_of(value) if isinstance(value, (str, type(None)))
                 else lib.json_of(value))

    def remove_tool(self, name: str) -> None:
        self._do("remove_tool", name.encode())
        self._names.pop(name, None)

    def filter(self, wanted: Callable[[str], bool] | None = None) -> None:
        """Which tools are offered from now on; None: all of them.

        When wanted raises, all is as before.
        """
        # Asked here: nobody hears what is raised in a callback.
        known = list(self._names)
        hidden = ({name.encode() for name in known if not wanted(name)}
                  if wanted else set())

        def is_wanted(name: bytes, data: int) -> bool:
            return name not in hidden

        self._do("filter", lib.FILTER(is_wanted), None)

    def set(self, option: str, value: str) -> None:
        self._do("set", option.encode(), value.encode())

    # --- its life ---

    def start(self) -> None:
        if self._pool:
            # Says that it is started.
            self._do("start")
            return
        # Somebody may call as soon as it is.
        self._pool = _Pool(self._threads)
        try:
            self._do("start")
        except BaseException:
            self._end_pool()
            raise

    def stop(self) -> None:
        """Socket and file go, who still calls is told, the calls' `cancelled`
        is set and coroutines are cancelled; then waits for all of them."""
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
        # A tool in the pool may have made a coroutine last.
        with self._own_lock:
            own, self._own = self._own, None
        if own:
            own.end()

    def close(self) -> None:
        """Stops it; nothing can be done with it any more."""
        handle, self._handle = self._handle, None
        # What a child of fork() has is its parent's.
        if handle and self._pid == os.getpid():
            # Tools that run may still have the server do something.
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
        # A tool of the pool may make a coroutine last.
        await asyncio.to_thread(self._end_pool)
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._out_of_loop()

    def _out_of_loop(self) -> None:
        self._loop = None
        self.set("loop", "thread")

    def __del__(self) -> None:
        self.close()

    # --- what is known of it ---

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
        """{"mcpServers": {...}}: what an agent needs to start the bridge."""
        config: dict[str, Any] = json.loads(
            lib.take(self._ask("agent_config")))
        return config

    def check_bridge(self, seconds: float = 10.0) -> None:
        """Raises BridgeStartupError, with what the bridge said last."""
        self._do("check_bridge", int(seconds * 1000))

    def notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        self._do("notify", method.encode(),
                 None if params is None else lib.json_of(params))

    def serve(self, read_fd: int, write_fd: int) -> None:
        """A client at two descriptors, which are the server's from now on."""
        self._do("serve", read_fd, write_fd)

    def link(self, message: Callable[[dict[str, Any]], None]) -> Link:
        """A client in this process: what it gets, and Link.send()."""
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

    def _loop_of_call(self) -> tuple[asyncio.AbstractEventLoop, _Tasks]:
        """Where a coroutine runs, and those that run there."""
        if self._loop:
            return self._loop, self._tasks
        with self._own_lock:
            self._own = self._own or _Loop()
            return self._own.asyncio, self._own.tasks

    def _begin(self, entry: _Entry, call: Call,
               result: Coroutine[Any, Any, Any]) -> None:
        """Has a loop run a coroutine, from whichever thread."""
        loop, tasks = self._loop_of_call()

        def begin() -> None:
            task = call._task = loop.create_task(
                self._await(entry, call, result))
            tasks.add(task)
            task.add_done_callback(ended)
            # It was cancelled before; then it does nothing at all.
            if call.cancelled.is_set():
                task.cancel()

        def ended(task: asyncio.Task[None]) -> None:
            # One that never began would be complained of.
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

    def _work(self, entry: _Entry, call: Call, arguments: bytes) -> None:
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
    async def _result(entry: _Entry, call: Call, arguments: bytes) -> Any:
        return await entry.run(call, json.loads(arguments))

    async def _await(self, entry: _Entry, call: Call,
                     result: Coroutine[Any, Any, Any]) -> None:
        try:
            self._answer(call, entry, await result)
        except BaseException as error:
            self._fail(call, entry, error)
            if not isinstance(error, Exception):
                raise

    @staticmethod
    def _answer(call: Call, entry: _Entry, result: Any) -> None:
        is_text = entry.is_tool and isinstance(result, str)
        text = lib.text_of(result) if is_text else lib.json_of(result)
        lib.do("reply", call.number, text, len(text or b""))

    @staticmethod
    def _fail(call: Call, entry: _Entry, error: BaseException) -> None:
        kind = getattr(error, "type", None)
        if not isinstance(kind, str):
            kind = type(error).__name__
        try:
            text = str(error) or kind
            if isinstance(error, RPCError) and not entry.is_tool:
                lib.do("fail_rpc", call.number, error.code, lib.text_of(text),
                       None if error.data is None else lib.json_of(error.data))
                return
        except Exception as other:
            # An error that cannot be told is one itself.
            error, kind = other, type(other).__name__
            text = str(other)
        if not isinstance(error, ToolError) and not call.cancelled.is_set():
            _log.error("%s() failed", entry.function.__name__, exc_info=error)
        lib.do("fail", call.number, lib.text_of(kind), lib.text_of(text))


class Link:
    """A client whose messages the program carries; it is there until it is
    closed, or its server is."""

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
        """Its calls are cancelled; not while another thread sends."""
        handle, self._handle = self._handle, None
        if handle:
            lib.ask("link_close", handle)
            self._links.discard(self)


@atexit.register
def _close_all() -> None:
    """Before the interpreter goes, which the library would still call."""
    for server in list(_servers):
        server.close()
