"""Threads for tools, and an asyncio loop for coroutines."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Callable, Set

Tasks = Set["asyncio.Task[None]"]


class Pool:
    """Threads for tools.  concurrent.futures is not used: an exiting
    interpreter waits for its threads before it runs exit handlers."""

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


class Loop:
    """An asyncio loop in its own thread, for coroutines.  After end(), it
    ends with the last coroutine."""

    def __init__(self) -> None:
        self._started = threading.Event()
        self._thread = threading.Thread(target=asyncio.run,
                                        args=[self._run()], daemon=True,
                                        name="toolgate-asyncio")
        self._thread.start()
        self._started.wait()

    async def _run(self) -> None:
        self.asyncio = asyncio.get_running_loop()
        self.tasks: Tasks = set()
        self._ended = asyncio.Event()
        self._started.set()
        await self._ended.wait()
        while self.tasks:
            await asyncio.wait(self.tasks)

    def end(self) -> None:
        self.asyncio.call_soon_threadsafe(self._ended.set)
        if self._thread is not threading.current_thread():
            self._thread.join()
