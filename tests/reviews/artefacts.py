"""Folders of split files for tests, and shorthands to review them."""

from repro.reviews import Stated, review

SILENT = {"progress": False}


def write(folder, files):
    """The folder with these files, by name."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def lines(rows, mark="\t"):
    """Rows as text."""
    return "".join(mark.join(map(str, row)) + "\n" for row in rows)


def reviewed(folder, files, roles=None, **stated):
    """The review of a folder with these files."""
    return review(write(folder, files), paper=Stated(**stated), roles=roles, progress=False)


def found(result, check):
    """The findings of a check."""
    return [finding for finding in result.findings if finding.check == check]


def wrong(result):
    """The checks of errors and warnings."""
    return sorted({finding.check for finding in result.findings if finding.severity in ("error", "warning")})
