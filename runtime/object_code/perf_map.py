"""`/tmp/perf-PID.map`: names and addresses of compiled functions, from which Linux `perf` names samples in them.

The environment variable `XRELAY_PERF_MAP` turns it on. Functions have the names of kernels, as in profiles.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Final

from xrelay.runtime.metadata import ModelMetadata
from xrelay.runtime.object_code.elf import function_sizes
from xrelay.runtime.object_code.native_library import NativeLibrary

_LOG: Final = logging.getLogger(__name__)


def mapped_functions(objects: Sequence[bytes]) -> dict[str, int]:
    """Maps the functions of a model to their sizes. Raises `ArtifactError` unless the objects are ELF files."""
    return {name: size for code in objects for name, size in function_sizes(code).items()}


def add_to_perf_map(library: NativeLibrary, functions: Mapping[str, int], metadata: ModelMetadata) -> None:
    """Appends the functions of a loaded library, which must export them, to the map of this process.

    If the file cannot be written, a warning is logged.
    """
    path = f"/tmp/perf-{os.getpid()}.map"
    lines = [
        f"{library.address(symbol):x} {size:x} {metadata.name}:{metadata.readable_symbol(symbol)}\n"
        for symbol, size in functions.items()
    ]
    try:
        # Other users can create files in this folder, so a link is not followed.
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "a", encoding="utf-8") as file:
            file.writelines(lines)
    except OSError as error:
        _LOG.warning("cannot write '%s': %s", path, error.strerror)
