"""The process that draws charts: `python renderer.py`, asked on standard input, one chart at a time.

It is a process of its own because what draws ends the whole process where it runs out of memory. A request is a line of
JSON, ``{"call": name, "arguments": [...], "settings": {...}}``, of a function of vl_convert; an answer is a line with
``ok`` or ``error`` and a number of bytes, and these bytes.
"""

import json
import sys

import vl_convert


def main() -> None:
    """Answer until nobody asks any more."""
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        try:
            made = getattr(vl_convert, asked["call"])(*asked["arguments"], **asked["settings"])
            status, answer = b"ok", made if isinstance(made, bytes) else made.encode()
        except Exception as error:
            status, answer = b"error", str(error).encode()
        sys.stdout.buffer.write(b"%s %d\n%s" % (status, len(answer), answer))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
