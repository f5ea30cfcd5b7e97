"""Tab completion in bash and zsh, beyond what click knows: names with `=`, `@` or `:`, and names that go on."""

from __future__ import annotations

import os

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)

_BASH = """\
%(complete_func)s() {
    local IFS=$'\\n' kind value response completion
    COMPREPLY=()
    response=$(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS" \
%(complete_var)s=bash_complete "$1")
    for completion in $response; do
        IFS=',' read -r kind value <<< "$completion"
        case $kind in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            open) compopt -o nospace; COMPREPLY+=("$value") ;;
            plain) COMPREPLY+=("$value") ;;
        esac
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

_ZSH = """\
#compdef %(prog_name)s
%(complete_func)s() {
    local -a plain described open response
    local kind value text
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) \
%(complete_var)s=zsh_complete %(prog_name)s)}")
    for kind value text in ${response}; do
        case $kind in
            dir) _path_files -/ ;;
            file) _path_files -f ;;
            open) open+=("$value:$text") ;;
            plain) if [[ $text == _ ]]; then plain+=("$value"); else described+=("$value:$text"); fi ;;
        esac
    done
    (( $#open )) && _describe -V open open -U -S ''
    (( $#described )) && _describe -V described described -U
    (( $#plain )) && compadd -U -V plain -a plain
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    %(complete_func)s "$@"
else
    compdef %(complete_func)s %(prog_name)s
fi
"""


def _kind(item: CompletionItem[str]) -> str:
    """The type of an item; names that go on, such as `ties.break=`, are open: no blank follows them."""
    return "open" if item.type == "plain" and item.value.endswith(("=", "://")) else item.type


def _option_in(word: str) -> str:
    """The option in `--set=ties.break`, with its equals sign: click completes what follows it."""
    option, equals, _ = word.partition("=")
    return option + equals if equals and option.startswith("-") else ""


class Bash(BashComplete):
    """bash ends words at the characters of COMP_WORDBREAKS too, and replaces only what follows the last of them."""

    source_template = _BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)[1:]
        incomplete = words.pop() if words and not line[-1].isspace() else ""
        # An @ begins the part that is replaced, where other marks end what stays.
        starts = [incomplete.rfind(mark) + (mark != "@") for mark in os.environ["COMP_WORDBREAKS"]]
        self._kept = incomplete[: max(0, *starts)].removeprefix(_option_in(incomplete))
        return words, incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        return f"{_kind(item)},{item.value.removeprefix(self._kept)}"


class Zsh(ZshComplete):
    """zsh replaces the whole word, with the option in it, and puts no blank after names that go on."""

    source_template = _ZSH

    def get_completion_args(self) -> tuple[list[str], str]:
        words, incomplete = super().get_completion_args()
        self._option = _option_in(incomplete)
        return words, incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        value, text = self._option + item.value, " ".join((item.help or "_").split())
        if _kind(item) == "open" or text != "_":
            value = value.replace(":", "\\:")
        return f"{_kind(item)}\n{value}\n{text}"


def register() -> None:
    """Let click answer these shells as above."""
    add_completion_class(Bash)
    add_completion_class(Zsh)
