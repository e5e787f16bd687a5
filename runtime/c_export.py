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
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from xrelay.errors import ArtifactError
from xrelay.runtime.abi import (
    ABI_VERSION,
    ALIGNMENT,
    BUFFER_SYMBOL,
    ENTRY_SYMBOL,
    PARALLEL_FOR_SYMBOL,
    PLAN_SYMBOL,
    RELEASE_SYMBOL,
)
from xrelay.runtime.artifact import Artifact
from xrelay.runtime.c_dynamic_buffers import DynamicBufferTexts, dynamic_buffer_texts
from xrelay.runtime.c_lists import OBJECT_TYPE, list_texts
from xrelay.runtime.c_names import c_identifier, c_prefix, comment_text
from xrelay.runtime.c_sizes import SizeTexts, size_texts
from xrelay.runtime.elf_symbols import defined_symbols, rename_symbols
from xrelay.runtime.files import sibling
from xrelay.runtime.metadata import ModelMetadata, TensorSpec

# Types without a C equivalent are passed as their bits.
_C_TYPES: Final = {
    "float32": "float",
    "float64": "double",
    "bool": "uint8_t",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}


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
    offsets, size = _weight_offsets(artifact.metadata)
    try:
        weights_path = sibling(object_path, ".weights")
        _join_objects(_named_after(artifact.objects, prefix), object_path)
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


def header_text(metadata: ModelMetadata, prefix: str, *, allocates: bool = False) -> str:
    """Returns the header of a model; `prefix` is the prefix of its functions and macros.

    If the model `allocates` buffers, the header has a function that takes an allocator.
    """
    taken: set[str] = set()
    inputs = [(spec, c_identifier(spec.name, taken, prefix=prefix)) for spec in metadata.inputs]
    named = [(spec, c_identifier(spec.name, taken, prefix=prefix)) for spec in metadata.outputs]
    outputs = [output for number, output in enumerate(named) if number not in metadata.dynamic_buffers]
    buffers = dynamic_buffer_texts(
        [named[number] for number in metadata.dynamic_buffers],
        prefix=prefix,
        release=release_symbol(prefix),
        c_type=_c_type,
    )
    offsets, weights_size = _weight_offsets(metadata)
    sizes = size_texts(metadata, prefix=prefix, plan_entry=plan_symbol(prefix))
    run = _run_text(prefix, inputs, outputs, offsets, buffers, sizes)
    return _HEADER.format(
        comment=_comment(metadata, offsets, [sizes.comment[0], *buffers.comment, *sizes.comment[1:]]),
        guard=f"XRELAY_MODEL_{prefix.upper()}_H",
        prefix=prefix,
        macro=prefix.upper(),
        entry=entry_symbol(prefix),
        parallel_for=PARALLEL_FOR_SYMBOL,
        alignment=ALIGNMENT,
        abi=ABI_VERSION,
        objects=list_texts((*metadata.inputs, *metadata.outputs)),
        declarations=buffers.declarations + sizes.declarations,
        release=buffers.functions,
        run=run[allocates],
        constants=sizes.constants,
        new_arena=sizes.new_arena,
        weights_size=weights_size,
    )


def _run_text(
    prefix: str,
    inputs: Sequence[tuple[TensorSpec, str]],
    outputs: Sequence[tuple[TensorSpec, str]],
    offsets: Sequence[int],
    buffers: DynamicBufferTexts,
    sizes: SizeTexts,
) -> tuple[str, str]:
    """Returns two versions of the run function: without an allocator, and with a variant that takes one."""
    parameters = [f"const {_c_type(spec)} *{name} /* {comment_text(str(spec))} */" for spec, name in inputs]
    parameters += [f"{_c_type(spec)} *{name} /* {comment_text(str(spec))} */" for spec, name in outputs]
    parameters += [*buffers.parameters, "const void *weights", "void *arena", *sizes.parameters, "int32_t num_threads"]
    names = [name for _, name in (*inputs, *outputs)]
    arguments = [f"(void *){name}" for name in names]
    arguments += [f"(char *)weights + {offset}" for offset in offsets]
    arguments += ["arena", *buffers.arguments, *sizes.arguments]
    names += [*buffers.names, "weights", "arena", *sizes.names, "num_threads"]
    fields = {
        "prefix": prefix,
        "entry": entry_symbol(prefix),
        "context": buffers.context,
        "failure": buffers.failure,
        "parameters": ",\n    ".join(parameters),
        "names": ", ".join(names),
        "arguments": ",\n        ".join(arguments),
    }
    return _RUN.format(**fields), _RUN_WITH.format(**fields)


def _comment(metadata: ModelMetadata, offsets: list[int], behind: Sequence[str]) -> str:
    """Returns the order of the entry's arguments, one line each; `behind` are the lines after the weights."""
    lines: list[str] = []
    for kind, specs in (("input", metadata.inputs), ("output", metadata.written)):
        lines += [f"{kind} {spec.name}: {spec}{_bytes(spec)}" for spec in specs]
    lines += [
        f"weight {spec.name}: {spec}, {spec.nbytes} bytes at offset {offset} of the file of weights"
        for spec, offset in zip(metadata.weights, offsets, strict=True)
    ]
    lines += behind
    return "\n".join(f" *   args[{i}]  {comment_text(line)}" for i, line in enumerate(lines))


def _bytes(spec: TensorSpec) -> str:
    """Returns the size of a tensor as text; empty if its shape is dynamic."""
    return "" if spec.is_open or spec.containers else f", {spec.nbytes} bytes"


def _c_type(spec: TensorSpec) -> str:
    if spec.containers:
        return OBJECT_TYPE
    return _C_TYPES.get(spec.dtype, f"uint{8 * spec.numpy_dtype.itemsize}_t")


def _weight_offsets(metadata: ModelMetadata) -> tuple[list[int], int]:
    """Returns the offset of each weight in the file of weights, and the file's size."""
    offsets: list[int] = []
    end = 0
    for spec in metadata.weights:
        offsets.append(end)
        end += spec.nbytes + -spec.nbytes % ALIGNMENT
    return offsets, end


def entry_symbol(prefix: str) -> str:
    """Returns the name of the entry of a model with this prefix."""
    return f"{prefix}_entry"


def plan_symbol(prefix: str) -> str:
    """Returns the name of the plan function of a model with this prefix and named dimensions."""
    return f"{prefix}_plan_entry"


def release_symbol(prefix: str) -> str:
    """Returns the name of the function that frees the dynamic buffers of a model with this prefix."""
    return f"{prefix}_release_entry"


def _named_after(objects: tuple[bytes, ...], prefix: str) -> tuple[bytes, ...]:
    """Returns the objects with all symbols that they define prefixed by the model's name."""
    defined = set[str]().union(*(defined_symbols(code) for code in objects))
    public = {
        ENTRY_SYMBOL: entry_symbol(prefix),
        PLAN_SYMBOL: plan_symbol(prefix),
        RELEASE_SYMBOL: release_symbol(prefix),
    }
    names = {name: public.get(name, f"{prefix}__{name}") for name in defined}
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


_BODY: Final = """\
{context}  void *args[] = {{
        {arguments}}};
  int32_t status;
  (void)weights;
"""
_REST: Final = """\
  context->num_threads = num_threads;
  status = {entry}(context, args);
  if (status == 0) status = context->status;
{failure}  return status;
}}

"""
_RUN: Final = f"""\
/* Runs the model; returns 0 or a status. weights and arena may be NULL if their size is 0. */
static inline int32_t {{prefix}}_run(
    {{parameters}}) {{{{
{_BODY}{_REST}"""
_RUN_WITH: Final = f"""\
/* Runs the model; returns 0 or a status. weights and arena may be NULL if their size is 0. Memory that the run
 * allocates comes from the allocator, or from the C library if allocator is NULL. */
static inline int32_t {{prefix}}_run_with(
    {{parameters}},
    const xrelay_allocator *allocator) {{{{
{_BODY}  if (allocator != NULL) context->allocator = *allocator;
{_REST}/* The same with memory from the C library. */
static inline int32_t {{prefix}}_run(
    {{parameters}}) {{{{
  return {{prefix}}_run_with({{names}}, NULL);
}}}}

"""
_HEADER: Final = """\
/* A model compiled by xrelay. Link the object file of this header with libc and libm.
 *
 * {entry}(ctx, args) takes pointers in this order:
{comment}
 *
 * Weights and arena are aligned to {alignment} bytes, the rest to their elements; buffers do not overlap. The result
 * is 0 or a status: the low byte is the reason, the higher bits are the kernel's number, counted from 1.
 * {prefix}_run() below sets up ctx and args. Calls may run concurrently if each has its own arena.
 */
#ifndef {guard}
#define {guard}

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {{
#elif __STDC_VERSION__ < 201112L
void *aligned_alloc(size_t alignment, size_t size); /* standard since C11 */
#endif

#ifndef XRELAY_RUNTIME
#define XRELAY_RUNTIME {abi}
/* The source of the memory that a run allocates; allocate returns NULL on failure. */
typedef struct xrelay_allocator {{
  void *(*allocate)(void *self, size_t alignment, size_t bytes);
  void (*free)(void *self, void *block);
  void *self;
}} xrelay_allocator;

typedef struct xrelay_context {{
  int32_t status;
  int32_t num_threads;
  int64_t reserved[8];
  xrelay_allocator allocator;
  int64_t unused[4];
}} xrelay_context;

typedef int32_t (*xrelay_body)(void *ctx, void *env, int64_t begin, int64_t end);

/* Runs body over [0, n). This one is serial; define the function in one file of the program to replace it. */
__attribute__((weak)) int32_t {parallel_for}(void *ctx, xrelay_body body, void *env, int64_t n) {{
  return n > 0 ? body(ctx, env, 0, n) : 0;
}}
#elif XRELAY_RUNTIME - 0 != {abi}
#error "headers of models that different versions of xrelay compiled"
#endif

{objects}int32_t {entry}(void *ctx, void **args);
{declarations}
#define {macro}_ALIGNMENT {alignment}
{constants}#define {macro}_WEIGHTS_SIZE {weights_size}u

{new_arena}  return aligned_alloc({alignment}, (size / {alignment} + 1) * {alignment});
}}

/* Reads the weights from their file; NULL on failure. Release with free(). */
static inline void *{prefix}_load_weights(const char *path) {{
  size_t size = {macro}_WEIGHTS_SIZE;
  void *weights = aligned_alloc({alignment}, size + {alignment});
  FILE *file = fopen(path, "rb");
  if (weights == NULL || file == NULL || fread(weights, 1, size, file) != size) {{
    free(weights);
    weights = NULL;
  }}
  if (file != NULL) fclose(file);
  return weights;
}}

{release}{run}#ifdef __cplusplus
}}
#endif
#endif
"""
