"""The declaration of the framework ``external``."""

from __future__ import annotations

from repro.plugin import Algorithm, Framework, Parameter, impl
from repro_external.command import make_command
from repro_external.file import make_file
from repro_external.formats import FORMATS
from repro_external.systems import GIVES

_COMMON = (
    Parameter("format", "recognised", "how the output is written", FORMATS),
    Parameter("columns", "", "what columns are called, or their places: user=uid,item=iid,score=3"),
    Parameter("gives", "scores", "what the numbers are: scores, predictions on the rating scale, or lists", GIVES),
)


@impl
def repro_framework() -> Framework:
    return Framework(
        name="external",
        version="0.1.0",
        summary="any other system: files that it wrote, or its command line",
        algorithms=(
            Algorithm(
                name="file",
                summary="scores, predictions or lists in a file; pairs that are not in it are unscored",
                make=make_file,
                parameters=(
                    Parameter("path", "", "the file; {fold} in it is the name of the fold, 1, 2 and so on"),
                    *_COMMON,
                ),
                predicts=True,
                scores="unknown",
            ),
            Algorithm(
                name="command",
                summary="a program that is given the training rows and writes scores, predictions or lists",
                make=make_command,
                parameters=(
                    Parameter(
                        "command", "", "program and arguments; {train}, {users}, {items}, {pairs}, {output}, {seed}"
                    ),
                    *_COMMON,
                    Parameter("time_limit", 0.0, "seconds that the program may take; 0 for as long as it likes"),
                ),
                predicts=True,
                scores="unknown",
                deterministic=False,
            ),
        ),
    )
