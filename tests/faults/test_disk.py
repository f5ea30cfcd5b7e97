"""A disk that is full, or that may not be written: a sentence, nothing finished is lost, and --resume goes on."""

import ctypes
import os
import resource
import shutil
import subprocess

import pytest

from repro.errors import JournalError
from repro.runs.journal import Journal, events, read_journal

CAP_DAC_OVERRIDE = 1
PR_CAPBSET_DROP = 24


def limited(size):
    """No file of the process may grow beyond that many bytes: the same errors as on a full disk, for everyone."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def bound_by_permissions():
    """Root may write what the bits forbid; without this capability it may not, like everybody else."""
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE)


@pytest.mark.parametrize(
    "share", [pytest.param(0.0, marks=pytest.mark.slow), 0.35, pytest.param(0.8, marks=pytest.mark.slow)]
)
def test_files_that_cannot_grow(faulty, undisturbed, resumes, tmp_path, share):
    """The journal is the largest file here: it is cut off at its beginning, in the middle and near its end."""
    whole = (faulty.study.parent / "undisturbed" / "journal.jsonl").stat().st_size
    done = faulty.run(tmp_path / "run", preexec_fn=limited(max(1, int(share * whole))))
    assert done.returncode == 1
    messages = faulty.one_sentence(done.stderr)
    assert "cannot be written: File too large" in messages
    assert messages.endswith("run again with --resume")
    if (tmp_path / "run" / "journal.jsonl").exists():
        read_journal(tmp_path / "run" / "journal.jsonl")  # valid up to its last event
    resumes(tmp_path / "run")


# In a mount namespace of its own, which goes with it: the run is all arguments.
FULL = """
mount -t tmpfs -o size=24k none "$DISK" || exit 77
"$@"; echo "first: $?" >&2
mount -o remount,size=64m none "$DISK"
cp -r "$DISK/run" "$COPY"
"""


def test_a_full_disk(faulty, resumes, tmp_path):
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    disk.mkdir()
    (tmp_path / "script").write_text(FULL)
    variables = {**os.environ, **faulty.variables, "DISK": str(disk), "COPY": str(copy)}
    command = ["unshare", "--map-root-user", "--mount", "sh", str(tmp_path / "script"), *faulty.command(disk / "run")]
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here to mount a small disk with")
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip("no disk may be mounted here")
    *messages, status = done.stderr.splitlines()
    assert status == "first: 1"
    assert "cannot be written: No space left on device" in faulty.one_sentence("\n".join(messages))
    assert resumes(copy).events("run.resumed")


def test_a_line_of_the_journal_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    journal.write(events.RunFinished(cells=1, failed=0, seconds=1.0))
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))  # room for a part of the next line
    try:
        with pytest.raises(JournalError, match="cannot be written: File too large; what is in it is kept"):
            journal.write(events.RunFinished(cells=2, failed=0, seconds=2.0))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == before
    journal.write(events.RunFinished(cells=3, failed=0, seconds=3.0))  # there is room again
    assert [line.event.cells for line in read_journal(path).lines] == [1, 3]


def read_only(folder):
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o555)


def test_a_folder_that_may_not_be_made(faulty, tmp_path):
    tmp_path.chmod(0o555)
    done = faulty.run(tmp_path / "run", preexec_fn=bound_by_permissions)
    tmp_path.chmod(0o755)
    assert done.returncode == 1
    assert f"cannot make the run folder {tmp_path / 'run'}: Permission denied" in faulty.one_sentence(done.stderr)


def test_a_run_whose_folder_has_become_read_only(faulty, resumes, tmp_path):
    process, _ = faulty.hold(tmp_path / "run", tmp_path / "held")
    process.terminate()
    process.communicate()
    read_only(tmp_path / "run")
    (tmp_path / "run" / ".lock").chmod(0o444)
    done = faulty.run(tmp_path / "run", "--resume", preexec_fn=bound_by_permissions)
    assert done.returncode == 1
    assert f"cannot write to the run folder {tmp_path / 'run'}: Permission denied" in faulty.one_sentence(done.stderr)
    (tmp_path / "run" / ".lock").chmod(0o644)  # and now only what is written later may not be
    done = faulty.run(tmp_path / "run", "--resume", preexec_fn=bound_by_permissions)
    assert done.returncode == 1
    assert "Permission denied; finished cells are kept" in faulty.one_sentence(done.stderr)
    for path in tmp_path.rglob("*"):
        path.chmod(0o755)
    resumes(tmp_path / "run")
