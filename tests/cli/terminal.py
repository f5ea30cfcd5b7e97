"""A program on a terminal of its own: what it shows, and keys that are typed."""

import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

# What a program that has not answered by then never answers.
PATIENCE = 240


class Terminal:
    """Starts a command on a pseudo-terminal; ``shown`` is all that it printed."""

    def __init__(self, command, cwd, **variables):
        self._fd, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, "TERM": "dumb", "COLUMNS": "200", "LINES": "100", **variables},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            # The terminal is that of the session: keys such as Ctrl-C are signals.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        self.shown = ""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._process.kill()
        self._process.wait()
        os.close(self._fd)

    def until(self, pattern):
        """Read what is printed from here up to a regular expression, which it ends with."""
        start, end = len(self.shown), time.monotonic() + PATIENCE
        while not (match := re.search(pattern, self.shown[start:])):
            assert time.monotonic() < end and self._read(), f"{pattern} is not in {self.shown[start:]!r}"
        return self.shown[start : start + match.end()]

    def type(self, keys):
        os.write(self._fd, keys.encode())

    def end(self):
        """The exit status, once the program ends."""
        while self._read():
            pass
        return self._process.wait(PATIENCE)

    def _read(self):
        """Whether the program is still there; what it prints is added."""
        if select.select([self._fd], [], [], PATIENCE)[0]:
            try:
                data = os.read(self._fd, 65536)
            except OSError:  # the other side is closed
                return False
            self.shown += data.decode(errors="replace").replace("\r\n", "\n")
            return bool(data)
        return False
