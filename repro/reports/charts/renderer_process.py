"""The process that draws charts, `python renderer_process.py`: requests arrive on standard input, one at a time.

It is a separate process because vl_convert aborts the whole process when it runs out of memory. A request is a line of
JSON, ``{"call": name, "arguments": [...], "settings": {...}}``, which names a function of vl_convert. An answer is a
line with ``ok`` or ``error`` and a number of bytes, followed by these bytes.
"""

import json
import sys

import vl_convert


def main() -> None:
    """Answer requests until standard input ends."""
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            result = getattr(vl_convert, request["call"])(*request["arguments"], **request["settings"])
            status, answer = b"ok", result if isinstance(result, bytes) else result.encode()
        except Exception as error:
            status, answer = b"error", str(error).encode()
        sys.stdout.buffer.write(b"%s %d\n%s" % (status, len(answer), answer))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
