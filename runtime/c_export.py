"""Exports a compiled model to C: an object file, a header, and a file of weights.

For a model `m` with input `data` and output `prob`, the header declares

    void *m_load_weights(const char *path);      // NULL on failure; free() it
    int32_t m_run(const float *data, float *prob, const void *weights, void *arena, int32_t num_threads);

For a model with named dimensions it also declares m_plan, and m_run takes `dims` before the number of threads:

    int32_t m_plan(const int64_t *dims, int64_t *sizes);  // the arena's bytes, and the open extents of outputs

Outputs of data-dependent shape are not parameters. They are fields of a struct, which m_run takes before the weights:

    typedef struct m_results { … struct { float *data; int64_t extents[1]; } rows; } m_results;
    void m_release(m_results *results);          // frees the data, after each run that succeeded

A model that allocates buffers also has m_run_with: m_run with a last parameter, an `xrelay_allocator` of the program
for all of them. Sequences and optionals are objects, and the header has functions to create and read them.

The header also defines, as a weak symbol, a serial `xrelay_parallel_for`, which a program may replace. The object file
is position-independent and needs libc and libm. Every global symbol in it begins with the model's name, and the entry
is `m_entry`, so one program may contain several models.

Names of the model are escaped in comments. Identifiers that C, C++ or the header use are prefixed with `x_`.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import BUFFER_SYMBOL, ENTRY_SYMBOL, PLAN_SYMBOL, RELEASE_SYMBOL
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.c_header import c_prefix, entry_symbol, header_text, plan_symbol, release_symbol, weight_offsets
from xrelay.runtime.files import sibling
from xrelay.runtime.object_code.elf import defined_symbols, rename_symbols


def export_c(artifact: Artifact, object_path: Path, header_path: Path, *, name: str | None = None) -> list[Path]:
    """Writes the object file, the header and, if the model has weights, `object_path` with suffix `.weights`.

    Returns the paths of the files.

    `name` is the prefix of all functions and macros and defaults to the name of the header. Raises `ArtifactError` if a
    file cannot be written, if the model has several object files and there is no linker (`ld`, `ld.lld`) to join them,
    or if they are not ELF files.
    """
    for spec in (*artifact.metadata.inputs, *artifact.metadata.outputs):
        if spec.is_function:
            raise ArtifactError(f"cannot export to C: '{spec.name}' is a function, which C cannot return")
    prefix = c_prefix(header_path.stem if name is None else name)
    offsets, size = weight_offsets(artifact.metadata)
    try:
        weights_path = sibling(object_path, ".weights")
        _join_objects(_named_after(artifact, prefix), object_path)
        if artifact.weights:
            with weights_path.open("wb") as file:
                for offset, array in zip(offsets, artifact.weights, strict=True):
                    file.write(bytes(offset - file.tell()))
                    file.write(array.tobytes())
                file.write(bytes(size - file.tell()))
        allocates = any(BUFFER_SYMBOL in defined_symbols(code) for code in artifact.objects)
        header_path.write_text(header_text(artifact.metadata, prefix, allocates=allocates), encoding="utf-8")
    except OSError as error:
        raise ArtifactError(f"cannot export to '{object_path}': {error}") from error
    return [object_path, header_path, *([weights_path] if artifact.weights else [])]


def _named_after(artifact: Artifact, prefix: str) -> tuple[bytes, ...]:
    """Returns the objects with all symbols that they define prefixed by the model's name, and named kernels."""
    objects, readable = artifact.objects, artifact.metadata.readable_symbol
    defined = set[str]().union(*(defined_symbols(code) for code in objects))
    public = {
        ENTRY_SYMBOL: entry_symbol(prefix),
        PLAN_SYMBOL: plan_symbol(prefix),
        RELEASE_SYMBOL: release_symbol(prefix),
    }
    names = {name: public.get(name, f"{prefix}__{readable(name)}") for name in defined}
    return tuple(rename_symbols(code, names, public=set(public.values())) for code in objects)


def _join_objects(objects: tuple[bytes, ...], path: Path) -> None:
    if len(objects) == 1:
        path.write_bytes(objects[0])
        return
    linker = shutil.which("ld") or shutil.which("ld.lld")
    if linker is None:
        raise ArtifactError(f"the model has {len(objects)} object files and no 'ld' to link them", help="install one")
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder) / f"{i}.o" for i in range(len(objects))]
        for part, code in zip(parts, objects, strict=True):
            part.write_bytes(code)
        command = [linker, "-r", "-o", str(path), *(str(part) for part in parts)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ArtifactError(f"{linker} cannot link the object files: {' '.join(result.stderr.split())}")
