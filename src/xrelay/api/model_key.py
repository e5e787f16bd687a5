"""What decides a compiled model: the key under which it lies in the cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from hashlib import blake2b
from mmap import ACCESS_READ, mmap
from os import PathLike
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.api.sources import Shapes, Source
from xrelay.dialects.attribute_names import WEIGHTS_FILE
from xrelay.errors import XRelayError
from xrelay.passes.infra.printing import print_module
from xrelay.plugins import plugin_stamp
from xrelay.runtime.cores import default_num_threads
from xrelay.runtime.digests import content_key
from xrelay.target.target import Target
from xrelay.version import __version__

_PIECE = 1 << 24
"""Bytes of a file that are hashed at a time."""


def model_key(source: Source, target: Target, opt_level: int, shapes: Shapes | None) -> str | None:
    """The key of a compilation; None for a source whose content cannot be told cheaply (it is then compiled anew)."""
    content = _content(source)
    if content is None:
        return None
    options = f"{target} {target.threads} O{opt_level} {sorted((n, tuple(s)) for n, s in (shapes or {}).items())}"
    return content_key([__version__, compiler_stamp(), plugin_stamp(), options, content])


@cache
def compiler_stamp() -> str:
    """Changes when the compiler's own code does: names, sizes and times of its files."""
    folder = Path(__file__).parents[1]
    parts: list[str] = []
    for root in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in sorted([*root.rglob("*.py"), *root.rglob("*.ll")]):
            status = path.stat()
            parts.append(f"{path.relative_to(folder)} {status.st_size} {status.st_mtime_ns}")
    return content_key(parts)


def _content(source: Source) -> bytes | str | None:
    """Everything the program consists of, weights included."""
    if isinstance(source, ModuleOp):
        try:
            return print_module(source)
        except XRelayError:
            return None
    if not isinstance(source, str | PathLike):
        serialize = getattr(source, "SerializeToString", None)
        return None if serialize is None else serialize(deterministic=True)  # None: no source, loading it says so
    path = Path(source)
    # A model with external data names its files under the key "location", a text its side file in this attribute.
    elsewhere = b"location" if path.suffix == ".onnx" else WEIGHTS_FILE.encode()
    try:
        return _file_digest(path, elsewhere)
    except (OSError, ValueError):
        return None  # absent, unreadable or empty: loading it says what is wrong


def _file_digest(path: Path, elsewhere: bytes) -> str | None:
    """What identifies the bytes of a file; None where `elsewhere` occurs in it.

    Hashing lets go of Python's lock, so the pieces of a large file are hashed side by side while it is searched.
    """
    with (
        path.open("rb") as file,
        mmap(file.fileno(), 0, access=ACCESS_READ) as data,
        memoryview(data) as view,
        ThreadPoolExecutor(default_num_threads()) as pool,
    ):
        starts = range(0, len(view), _PIECE)
        digests = [pool.submit(_piece_digest, view, start) for start in starts]
        if data.find(elsewhere) >= 0:
            return None
        return content_key([f"{len(view)}", *(digest.result() for digest in digests)])


def _piece_digest(view: memoryview, start: int) -> bytes:
    with view[start : start + _PIECE] as piece:
        return blake2b(piece, digest_size=32).digest()
