"""The exit codes of all commands, for scripts."""

DONE, FAILED, WRONG_USAGE, INTERRUPTED, CLOSED, TERMINATED = 0, 1, 2, 130, 141, 143

EXIT_CODES = {
    DONE: "done; of a check or a comparison: the answer is yes",
    FAILED: "an error, in a sentence on standard error; of a check: something is wrong",
    WRONG_USAGE: "the command line cannot be read: an unknown command, option or value",
    INTERRUPTED: "stopped with Ctrl-C; `repro run --resume` goes on",
    CLOSED: "the reader of the output closed it, as `| head` does",
    TERMINATED: "stopped by SIGTERM, as schedulers send it; `repro run --resume` goes on",
}
