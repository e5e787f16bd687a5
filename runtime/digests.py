"""Digests of content: keys of the cache, and checksums of saved models."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

from xrelay.runtime.cores import default_num_threads

try:
    from _blake2 import blake2b  # part of hashlib, which also loads OpenSSL: 4 MB of memory
except ImportError:
    from hashlib import blake2b

Buffer = bytes | bytearray | memoryview

_PIECE: Final = 1 << 24
"""The number of bytes whose digest is a part of a key."""
_CHUNK: Final = 1 << 20
"""The number of bytes read at a time."""


def content_key(parts: Iterable[str | Buffer]) -> str:
    """Returns a key for content; different sequences of parts have different keys."""
    digest = blake2b(digest_size=20)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


class Source(NamedTuple):
    """Content that is read in pieces."""

    size: int
    read: Callable[[int, int], Buffer]
    """Returns the bytes from begin to end."""


def sources_key(sources: Iterable[Source]) -> str:
    """Returns a key for large contents in order, hashed on several threads. Errors of reading propagate.

    Hashing releases the GIL, and at most a megabyte per thread is in memory.
    """
    pieces = [
        (source, begin, min(begin + _PIECE, source.size))
        for source in sources
        for begin in range(0, source.size, _PIECE)
    ]
    if len(pieces) <= 1:
        return content_key(map(_piece_digest, pieces))
    with ThreadPoolExecutor(min(len(pieces), default_num_threads())) as pool:
        return content_key(pool.map(_piece_digest, pieces))


def _piece_digest(piece: tuple[Source, int, int]) -> bytes:
    source, begin, end = piece
    digest = blake2b(digest_size=32)
    for first in range(begin, end, _CHUNK):
        digest.update(source.read(first, min(first + _CHUNK, end)))
    return digest.digest()
