"""Files that the command line writes: whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(path: Path, data: bytes) -> None:
    """Write a file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What the user keeps from others; there is no way to ask without setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
