"""The text of a model's C header, and the names in it.

A model's names are untrusted data: none may end a comment, continue a line, or clash with a keyword, a macro or a
declaration of the header, in C99 to C23, in C++ and in the GNU dialects. Names are escaped in comments, and identifiers
that C, C++ or the header use are prefixed with `x_`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from xrelay.runtime.abi import ABI_VERSION, ALIGNMENT, PARALLEL_FOR_SYMBOL
from xrelay.runtime.metadata import ModelMetadata, TensorSpec

_Named = Sequence[tuple[TensorSpec, str]]
"""Inputs or outputs with their C identifiers."""
_OBJECT_TYPE: Final = "xrelay_object"
TILES: Final = "+amx-tile"
"""The feature of a target with tile registers."""
# Types without a C equivalent are passed as their bits.
_C_TYPES: Final = {
    "float32": "float",
    "float64": "double",
    "bool": "uint8_t",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_BESIDE_ARENA: Final = (
    "maximum bytes that a run holds between kernels",
    "maximum bytes that a kernel allocates",
    "maximum bytes that each thread of a kernel allocates",
)
"""The sizes that a plan has after the extents of outputs."""


def header_text(metadata: ModelMetadata, prefix: str, *, allocates: bool = False) -> str:
    """Returns the header of a model; `prefix` is the prefix of its functions and macros.

    If the model `allocates` buffers, the header has a function that takes an allocator.
    """
    taken: set[str] = set()
    inputs = [(spec, c_identifier(spec.name, taken, prefix=prefix)) for spec in metadata.inputs]
    outputs = [(spec, c_identifier(spec.name, taken, prefix=prefix)) for spec in metadata.outputs]
    written = [output for number, output in enumerate(outputs) if number not in metadata.dynamic_buffers]
    results = [outputs[number] for number in metadata.dynamic_buffers]
    fields: dict[str, object] = {
        "prefix": prefix,
        "macro": prefix.upper(),
        "entry": entry_symbol(prefix),
        "plan": plan_symbol(prefix),
        "release": release_symbol(prefix),
        "parallel_for": PARALLEL_FOR_SYMBOL,
        "alignment": ALIGNMENT,
        "abi": ABI_VERSION,
        "weights_size": weight_offsets(metadata)[1],
        "comment": _comment(metadata, results),
        "tiles": _TILES if has_tiles(metadata) else "",
        "permission": _PERMISSION if has_tiles(metadata) else "",
        "objects": _OBJECTS if any(spec.containers for spec, _ in (*inputs, *outputs)) else "",
        "fields": "\n".join(_field(*result) for result in results),
        "size_text": comment_text("; ".join([*_plan_sizes(metadata), *_not_counted(metadata)])),
        "constants": _constants(metadata, prefix.upper()),
        **_run_fields(metadata, prefix, inputs, written, results),
    }
    results_text, release_text = (_RESULTS, _RELEASE) if results else ("", "")
    plan_text = "int32_t {plan}(void *ctx, const int64_t *dims, int64_t *sizes);\n" if metadata.dims else ""
    template = "".join(
        [
            _HEAD,
            results_text,
            plan_text,
            _CONSTANTS,
            _PLAN if metadata.dims else _KNOWN_ARENA,
            _FUNCTIONS,
            release_text,
            _RUN_WITH if allocates else _RUN,
            _END,
        ]
    )
    return template.format(**fields)


def has_tiles(metadata: ModelMetadata) -> bool:
    """Whether the code may use tile registers, for which a program requests the permission of the system."""
    return TILES in metadata.features.split(",")


def _run_fields(
    metadata: ModelMetadata, prefix: str, inputs: _Named, written: _Named, results: _Named
) -> dict[str, object]:
    """Returns the parameters of the run function, their names, the entry's arguments, and code about results."""
    tensors = [(f"const {_c_type(spec)} *{name}", spec, name) for spec, name in inputs]
    tensors += [(f"{_c_type(spec)} *{name}", spec, name) for spec, name in written]
    parameters = [(f"{declaration} /* {comment_text(str(spec))} */", name) for declaration, spec, name in tensors]
    arguments = [f"(void *){name}" for *_, name in tensors]
    arguments += [f"(char *)weights + {offset}" for offset in weight_offsets(metadata)[0]]
    arguments.append("arena")
    context, failure = "  xrelay_context own, *context = &own;\n  memset(&own, 0, sizeof own);\n", ""
    if results:
        parameters.append((f"{prefix}_results *results", "results"))
        arguments.append(f"(void *)&results->{results[0][1]}")
        context = "  xrelay_context *context = &results->context;\n  memset(results, 0, sizeof *results);\n"
        failure = f"  if (status != 0) {prefix}_release(results);\n"
    parameters += [("const void *weights", "weights"), ("void *arena", "arena")]
    if metadata.dims:
        parameters.append(("const int64_t *dims", "dims"))
        arguments.append("(void *)dims")
    parameters.append(("int32_t num_threads", "num_threads"))
    return {
        "parameters": ",\n    ".join(declaration for declaration, _ in parameters),
        "names": ", ".join(name for _, name in parameters),
        "arguments": ",\n        ".join(arguments),
        "context": context,
        "failure": failure,
    }


def _comment(metadata: ModelMetadata, results: _Named) -> str:
    """Returns the order of the entry's arguments, one line each."""
    lines: list[str] = []
    for kind, specs in (("input", metadata.inputs), ("output", metadata.written)):
        for spec in specs:
            size = "" if spec.is_open or spec.containers else f", {spec.nbytes} bytes"
            lines.append(f"{kind} {spec.name}: {spec}{size}")
    lines += [
        f"weight {spec.name}: {spec}, {spec.nbytes} bytes at offset {offset} of the file of weights"
        for spec, offset in zip(metadata.weights, weight_offsets(metadata)[0], strict=True)
    ]
    lines.append(f"arena: {'sizes[0]' if metadata.dims else metadata.arena_size} bytes of scratch memory")
    if results:
        texts = "; ".join(f"{name}: {spec}" for spec, name in results)
        lines.append(f"results, to which the run writes addresses and extents: {texts}")
    if metadata.dims:
        lines.append("dims: " + ", ".join(f"dims[{number}] = {name}" for number, name in enumerate(metadata.dims)))
    return "\n".join(f" *   args[{number}]  {comment_text(line)}" for number, line in enumerate(lines))


def _field(spec: TensorSpec, name: str) -> str:
    """Returns the declaration of an output in the struct of results."""
    if spec.containers:
        return f"  struct {{ const {_OBJECT_TYPE} *list; }} {name}; /* {comment_text(str(spec))} */"
    extents = [extent for extent in spec.shape if isinstance(extent, str)]
    extent_text = "; ".join(f"extents[{number}] = {extent}" for number, extent in enumerate(extents))
    comment = comment_text(f"{spec}: {extent_text}")
    return f"  struct {{ {_c_type(spec)} *data; int64_t extents[{len(extents)}]; }} {name}; /* {comment} */"


def _constants(metadata: ModelMetadata, macro: str) -> str:
    """Returns the constants about sizes: the arena's size and other memory, or the numbers of dims and sizes."""
    if metadata.dims:
        count = len(_plan_sizes(metadata))
        return f"#define {macro}_NUM_DIMS {len(metadata.dims)}\n#define {macro}_NUM_SIZES {count}\n"
    rows = zip(("DYNAMIC_BUFFERS", "KERNELS", "EACH_THREAD"), metadata.memory.sizes, _BESIDE_ARENA, strict=True)
    lines = [f"#define {macro}_ARENA_SIZE {metadata.arena_size}u\n"]
    lines += [f"#define {macro}_{name}_SIZE {size}u /* {text} */\n" for name, size, text in rows]
    lines += [f"/* {comment_text(text)} */\n" for text in _not_counted(metadata)]
    return "".join(lines)


def _plan_sizes(metadata: ModelMetadata) -> list[str]:
    """Returns descriptions of the sizes of a plan."""
    texts = [f"{spec.name}: {each}" for spec in metadata.written for each in spec.shape if isinstance(each, str)]
    return [f"sizes[{number}] {text}" for number, text in enumerate(["bytes of arena", *texts, *_BESIDE_ARENA])]


def _not_counted(metadata: ModelMetadata) -> list[str]:
    uncounted = metadata.memory.uncounted
    return [f"not counted: {', '.join(uncounted)}"] if uncounted else []


def _c_type(spec: TensorSpec) -> str:
    if spec.containers:
        return _OBJECT_TYPE
    return _C_TYPES.get(spec.dtype, f"uint{8 * spec.numpy_dtype.itemsize}_t")


def weight_offsets(metadata: ModelMetadata) -> tuple[list[int], int]:
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


_KEYWORDS: Final = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await
    co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue decltype default
    delete do double dynamic_cast else enum explicit export extern false float for friend goto if imaginary inline int
    long mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch
    template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual
    void volatile wchar_t while xor xor_eq
"""
_MACROS: Final = "I errno hpux i386 linux math_errhandling mips sgi sparc stderr stdin stdout sun unix vax"
"""Object-like macros of the standard headers and of compilers that `_MACRO_LIKE` does not match."""
_OF_THE_HEADER: Final = """
    aligned_alloc allocator arena args context dims fclose fopen fread free int16_t int32_t int64_t int8_t memcpy memset
    num_threads own results size_t sizes status uint16_t uint32_t uint64_t uint8_t weights
"""
"""Parameters and variables of the header's functions, and names of the standard headers in their bodies."""
_RESERVED: Final = frozenset(f"{_KEYWORDS} {_MACROS} {_OF_THE_HEADER}".split())
_MACRO_LIKE: Final = re.compile(r"(?![A-Z]\d*$)[A-Z][A-Z0-9_]|_|\d|xrelay_")
"""The start of a macro name (`NULL`, `PRId64`, not `X1`), of a reserved name, or of a runtime name."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9 _.,:;=+\-/()\[\]*?]|(?<=/)\*|\*(?! )|\?(?=\?)|(?<=\?)\?")
"""Unusual characters, asterisks that could begin or end a comment, and trigraphs."""


def c_identifier(name: str, taken: set[str], *, prefix: str = "") -> str:
    """Returns a C identifier like `name` that is not in `taken`, and adds it there.

    A name that C, C++, their headers or the header of the model with `prefix` use is prefixed with `x_`.
    """
    base = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not base or base in _RESERVED or _MACRO_LIKE.match(base) or (prefix and base.startswith(f"{prefix}_")):
        base = f"x_{base}"
    chosen, number = base, 1
    while chosen in taken:
        number += 1
        chosen = f"{base}_{number}"
    taken.add(chosen)
    return chosen


def c_prefix(name: str) -> str:
    """Returns the prefix of a model's functions and macros: a C identifier like `name`."""
    base = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"x_{base}" if not base or base in _RESERVED or re.match(r"_|\d", base) else base


def comment_text(text: str) -> str:
    """Returns `text` on one line of a C comment, with each byte of an unsafe character as `%2F`."""
    return _UNSAFE.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")), text)


_BODY: Final = """\
{context}  void *args[] = {{
        {arguments}}};
  int32_t status;
  (void)weights;
{permission}"""
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
_HEAD: Final = """\
/* A model compiled by xrelay. Link the object file of this header with libc and libm.
 *
 * {entry}(ctx, args) takes pointers in this order:
{comment}
 *
 * Weights and arena are aligned to {alignment} bytes, the rest to their elements; buffers do not overlap. The result
 * is 0 or a status: the low byte is the reason, the higher bits are the kernel's number, counted from 1.
 * {prefix}_run() below sets up ctx and args. Calls may run concurrently if each has its own arena.
 */
#ifndef XRELAY_MODEL_{macro}_H
#define XRELAY_MODEL_{macro}_H

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

{tiles}{objects}int32_t {entry}(void *ctx, void **args);
"""
_CONSTANTS: Final = """
#define {macro}_ALIGNMENT {alignment}
{constants}#define {macro}_WEIGHTS_SIZE {weights_size}u

"""
_FUNCTIONS: Final = """\
  return aligned_alloc({alignment}, (size / {alignment} + 1) * {alignment});
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

"""
_END: Final = """\
#ifdef __cplusplus
}}
#endif
#endif
"""
_RESULTS: Final = """\

/* Outputs whose sizes are computed by the run, with their dynamic extents, and lists. */
typedef struct {prefix}_results {{
  xrelay_context context;
{fields}
}} {prefix}_results;
void {release}(void *ctx);
"""

_RELEASE: Final = """\
/* Frees the results of a run; call it once for each successful run. */
static inline void {prefix}_release({prefix}_results *results) {{
  {release}(&results->context);
}}

"""
_KNOWN_ARENA: Final = """\
/* Allocates the arena; NULL on failure. Release with free(). */
static inline void *{prefix}_new_arena(void) {{
  size_t size = {macro}_ARENA_SIZE;
"""

_PLAN: Final = """\
/* Computes the sizes that a run with these dims needs; returns 0 or a status.
 * {size_text} */
static inline int32_t {prefix}_plan(const int64_t *dims, int64_t *sizes) {{
  xrelay_context context;
  memset(&context, 0, sizeof context);
  return {plan}(&context, dims, sizes);
}}

/* Allocates an arena of sizes[0] bytes; NULL on failure. Release with free(). */
static inline void *{prefix}_new_arena(int64_t bytes) {{
  size_t size = (size_t)bytes;
"""
_PERMISSION: Final = "  if (xrelay_request_tiles() != 0) return 1;\n"
_TILES: Final = """\
/* Requests Linux's permission to use tile registers for all threads of the process; returns 0 if it is granted. */
#ifndef XRELAY_TILES
#define XRELAY_TILES
static inline int64_t xrelay_request_tiles(void) {
  int64_t result = 158; /* arch_prctl(ARCH_REQ_XCOMP_PERM, 18) */
  __asm__ volatile("syscall" : "+a"(result) : "D"((int64_t)0x1023), "S"((int64_t)18) : "rcx", "r11", "memory");
  return result;
}
#endif

"""
_OBJECTS: Final = """\
/* A tensor in a list, or a list: a sequence, or an optional with one or no value.
 *
 * Release objects from xrelay_new_tensor and xrelay_new_list with xrelay_free_object, which also frees their items,
 * after the runs that take them have ended and their results are released, since results may refer to parts of them. */
#ifndef XRELAY_OBJECTS
#define XRELAY_OBJECTS
typedef struct xrelay_object {
  int64_t references; /* -1: the model never frees it */
  int64_t length;
  int64_t size;
  int64_t rank;
} xrelay_object;

/* The values or extents after an object's header. */
static inline void *xrelay_tail(const xrelay_object *object) { return (void *)(object + 1); }

static inline xrelay_object *xrelay_new_object(int64_t length, int64_t size, int64_t rank, size_t bytes) {
  xrelay_object *object = (xrelay_object *)aligned_alloc(64, (sizeof *object + bytes + 127) / 64 * 64);
  if (object == NULL) return NULL;
  object->references = -1;
  object->length = length;
  object->size = size;
  object->rank = rank;
  return object;
}

static inline int64_t xrelay_length(const xrelay_object *list) { return list->length; }

static inline xrelay_object *xrelay_item(const xrelay_object *list, int64_t number) {
  return ((xrelay_object **)xrelay_tail(list))[number];
}

static inline int64_t xrelay_rank(const xrelay_object *tensor) { return tensor->rank; }

static inline const int64_t *xrelay_extents(const xrelay_object *tensor) {
  return (const int64_t *)xrelay_tail(tensor);
}

/* The elements of a tensor in row-major order. */
static inline void *xrelay_data(const xrelay_object *tensor) {
  return (char *)tensor + (sizeof *tensor + 8 * (size_t)tensor->rank + 63) / 64 * 64;
}

/* Returns a tensor with a copy of the elements; NULL if out of memory. */
static inline xrelay_object *xrelay_new_tensor(
    const void *data, size_t bytes, int64_t rank, const int64_t *extents) {
  xrelay_object *tensor = xrelay_new_object(0, (int64_t)bytes, rank, 64 + 8 * (size_t)rank + bytes);
  if (tensor == NULL) return NULL;
  if (rank != 0) memcpy(xrelay_tail(tensor), extents, 8 * (size_t)rank);
  if (bytes != 0) memcpy(xrelay_data(tensor), data, bytes);
  return tensor;
}

/* Returns a list that takes ownership of its items; NULL if out of memory. */
static inline xrelay_object *xrelay_new_list(int64_t length, xrelay_object *const *items) {
  xrelay_object *list = xrelay_new_object(length, length, -1, 8 * (size_t)length);
  if (list != NULL && length != 0) memcpy(xrelay_tail(list), items, 8 * (size_t)length);
  return list;
}

/* Frees an object and its items, recursively. */
static inline void xrelay_free_object(xrelay_object *object) {
  if (object == NULL) return;
  for (int64_t i = 0; i < object->length; ++i) xrelay_free_object(xrelay_item(object, i));
  free(object);
}
#endif

"""
