"""Writing what people look at: whole or not at all."""

from pathlib import Path


def put(path: Path, content: bytes) -> Path:
    """Write a file under a temporary name and rename it; an error names the file."""
    unfinished = path.with_name(f".{path.name}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        unfinished.unlink(missing_ok=True)
    return path
