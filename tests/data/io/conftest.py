"""Files that readers of tables read."""

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes a file, from text or bytes; its path."""

    def write(name, content, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write
