"""The page about plug-ins: the frameworks that are known where the site is built."""

from __future__ import annotations

import json
from typing import Any

from decisions import printed
from tables import code, escaped, table, toctree


def plugin_pages() -> dict[str, str]:
    """A page for each framework with its algorithms and their parameters, and one that lists them."""
    frameworks = json.loads(printed("plugins", "list", "--json"))["frameworks"]
    canonical = json.loads(printed("algorithms", "list", "--json"))["canonical"]
    rows = [
        (f"[{each['name']}]({each['name']}.md)", escaped(each["summary"]), len(each["algorithms"]))
        for each in frameworks
    ]
    lines = [
        "# Plug-ins",
        "",
        "A framework is a plug-in: it fits and scores, and never ranks. `repro plugins list` shows those of your "
        "machine, and `repro plugins install NAME` builds the environment of one. To write one: "
        "[Plug-ins](../../plugins.md).",
        "",
        table(("plug-in", "what it is", "algorithms:"), rows),
        "## One algorithm in several frameworks",
        "",
        '`use = "*/NAME"` in a study is the algorithm in every framework that has it.',
        "",
        table(
            ("name", "algorithm", "frameworks"),
            [
                (code(name), escaped(entry["title"]), ", ".join(entry["frameworks"]))
                for name, entry in canonical.items()
            ],
        ),
    ]
    pages = {f"reference/plugins/{each['name']}.md": _page(each) for each in frameworks}
    lines += [toctree(f"{each['name']}.md" for each in frameworks)]
    return {"reference/plugins/index.md": "\n".join(lines), **pages}


def _page(framework: dict[str, Any]) -> str:
    lines = [f"# {framework['name']}", "", f"{escaped(framework['summary']).rstrip('.')}.", ""]
    for algorithm in framework["algorithms"]:
        lines += [
            f"## {framework['name']}/{algorithm['name']}",
            "",
            f"{escaped(algorithm['summary']).rstrip('.')}.",
            "",
        ]
        facts = [f"Ranks by {algorithm['ranks_by']}"]
        facts += [f"the framework's own name: {code(algorithm['own'])}"] if algorithm["own"] else []
        facts += [] if algorithm["deterministic"] else ["not deterministic"]
        lines += ["; ".join(facts) + ".", ""]
        if algorithm["parameters"]:
            lines += [
                table(
                    ("parameter", "default"),
                    [(code(key), code(value)) for key, value in algorithm["parameters"].items()],
                )
            ]
        if algorithm["unmapped"]:
            rows = [(code(key), escaped(reason)) for key, reason in algorithm["unmapped"].items()]
            lines += [
                "What the framework does instead of parameters that it lacks:",
                "",
                table(("parameter", "instead"), rows),
            ]
        if algorithm["cite"]:
            lines += [f"See {escaped(algorithm['cite'])}.", ""]
    return "\n".join(lines)
