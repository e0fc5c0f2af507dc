"""Calls that are made ahead by a few threads, which a store that hangs does not make a job wait for."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Generic, TypeVar

from batchweave import _lifetime

Argument = TypeVar("Argument")
Outcome = TypeVar("Outcome")


class Ahead(Generic[Argument, Outcome]):
    """Calls ``function`` in ``threads`` threads.

    An executor of the standard library would be waited for at the end of the interpreter, whatever its calls wait for.
    """

    def __init__(self, function: Callable[[Argument], Outcome], threads: int) -> None:
        self._function = function
        self._calls: queue.SimpleQueue[tuple[Future[Outcome], Argument] | None] = queue.SimpleQueue()
        self._closed = False
        self._threads = [threading.Thread(target=self._work, name="bw-ahead", daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()
        _lifetime.close_at_exit(self)

    def call(self, argument: Argument) -> Future[Outcome]:
        """What ``function`` will give."""
        future: Future[Outcome] = Future()
        self._calls.put((future, argument))
        return future

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            future, argument = call
            if self._closed:
                future.cancel()
                continue
            try:
                future.set_result(self._function(argument))
            except BaseException as error:
                future.set_exception(error)

    def close(self, patience: float | None = _lifetime.HARDLY) -> None:
        """Begin no call any more, and wait for those that are under way: ``patience`` seconds for each thread.

        None: as long as it takes. The end of the interpreter waits hardly: nobody wants what a loop that was left would read.
        """
        self._closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join(patience)

    def __enter__(self) -> Ahead[Argument, Outcome]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close(_lifetime.patience(kind))
