"""The three pipes of a process, for requests, replies and its log on standard error, with a deadline.

The log is read while another pipe is waited for: a process that prints a lot never blocks, and the lines that it
printed before a reply are known with the reply.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Iterator, Sequence

_BLOCK = 1 << 20
_AT_ONCE = 1 << 28
_REMEMBERED = 1 << 14


class Pipes:
    """The pipes of ``process``, which must have all three."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin and process.stdout and process.stderr
        self._streams = (process.stdin, process.stdout, process.stderr)
        self._in, self._out, self._err = (stream.fileno() for stream in self._streams)
        self._log = b""
        self._deadline: float | None = None
        self._reads, self._writes = selectors.DefaultSelector(), selectors.DefaultSelector()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._reads.register(self._out, selectors.EVENT_READ)
        self._writes.register(self._in, selectors.EVENT_WRITE)
        for selector in (self._reads, self._writes):
            selector.register(self._err, selectors.EVENT_READ)
        self._log_ended = False

    @contextlib.contextmanager
    def until(self, limit: float | None) -> Iterator[None]:
        """Sending and reading within takes at most ``limit`` seconds, or is a TimeoutError."""
        self._deadline = None if limit is None else time.monotonic() + limit
        try:
            yield
        finally:
            self._deadline = None

    def send(self, pieces: Sequence[bytes]) -> None:
        """Write all pieces; a BrokenPipeError where the process does not read any more."""
        for piece in pieces:
            view, at = memoryview(piece), 0
            while at < len(view):
                self._wait(self._writes, self._in)
                with contextlib.suppress(BlockingIOError):
                    at += os.write(self._in, view[at : at + _BLOCK])

    def read(self, size: int) -> bytearray:
        """Exactly ``size`` bytes of a reply; an EOFError where there are fewer."""
        buffer = bytearray(min(size, _AT_ONCE))
        at = 0
        while at < size:
            if at == len(buffer):  # grows with the received bytes, whatever size was announced
                buffer.extend(bytes(min(size - at, at)))
            self._wait(self._reads, self._out)
            with contextlib.suppress(BlockingIOError), memoryview(buffer) as view:
                got = os.readv(self._out, [view[at : at + _BLOCK]])
                if not got:
                    raise EOFError
                at += got
        return buffer

    def last_lines(self, count: int) -> list[str]:
        """The last lines of the log; the states of a progress bar are lines too."""
        self._read_log()
        lines = (line.rstrip() for line in self._log.decode(errors="replace").splitlines())
        return [line for line in lines if line][-count:]

    def close(self) -> None:
        """Close the pipes, and keep the log."""
        self._read_log()
        self._log_ended = True
        self._reads.close()
        self._writes.close()
        for stream in self._streams:
            with contextlib.suppress(OSError):
                stream.close()

    def _wait(self, selector: selectors.BaseSelector, descriptor: int) -> None:
        """Wait for a pipe, and read the log meanwhile."""
        while True:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            ready = [key.fd for key, _ in selector.select(left)]
            if self._err in ready:
                self._read_log()
            if descriptor in ready:
                return
            if left == 0.0:
                raise TimeoutError

    def _read_log(self) -> None:
        """Read the log as far as it is written, and keep the end of it."""
        while not self._log_ended:
            try:
                text = os.read(self._err, _BLOCK)
            except BlockingIOError:
                return
            if not text:
                self._log_ended = True
                self._reads.unregister(self._err)
                self._writes.unregister(self._err)
            self._log = (self._log + text)[-_REMEMBERED:]
