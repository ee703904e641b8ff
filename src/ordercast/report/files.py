"""Writing what people look at: whole or not at all."""

import contextlib
import os
from errno import EISDIR
from pathlib import Path


def writable(path: Path) -> None:
    """Refuse, before long work, a path that could not be written after it; leaves nothing."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    trial = path.with_name(f".{path.name}.tmp")
    try:
        trial.write_bytes(b"")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            trial.unlink()


def put(path: Path, content: bytes) -> Path:
    """Write a file under a temporary name and rename it; an error names the file."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    return path
