"""The part of a model's C header about sizes: the arena's size as a constant, or a function that computes sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from xrelay.runtime.c_names import comment_text
from xrelay.runtime.metadata import ModelMetadata


@dataclass(frozen=True)
class SizeTexts:
    """Pieces of a header: comment lines, declarations, constants, the function that allocates the arena."""

    comment: tuple[str, ...]
    declarations: str
    constants: str
    new_arena: str
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    arguments: tuple[str, ...]


def size_texts(metadata: ModelMetadata, *, prefix: str, plan_entry: str) -> SizeTexts:
    """Returns the pieces for a model; with named dimensions, `plan_entry` is the symbol of its plan function."""
    fields = {"prefix": prefix, "macro": prefix.upper(), "plan": plan_entry}
    if not metadata.dims:
        return SizeTexts(
            (f"arena: {metadata.arena_size} bytes of scratch memory",),
            "",
            f"#define {prefix.upper()}_ARENA_SIZE {metadata.arena_size}u\n{_known_needs(metadata, prefix.upper())}",
            _KNOWN_ARENA.format(**fields),
            (),
            (),
            (),
        )
    extents = [
        f"sizes[{number}] {spec.name}: {extent}"
        for number, (spec, extent) in enumerate(
            ((spec, extent) for spec in metadata.written for extent in spec.shape if isinstance(extent, str)), 1
        )
    ]
    extents += [f"sizes[{1 + len(extents) + number}] {text}" for number, text in enumerate(_BESIDE)]
    named = ", ".join(f"dims[{number}] = {name}" for number, name in enumerate(metadata.dims))
    size_text = "; ".join(["sizes[0] bytes of arena", *extents, *_not_counted(metadata)])
    constants = f"#define {prefix.upper()}_NUM_DIMS {len(metadata.dims)}\n"
    constants += f"#define {prefix.upper()}_NUM_SIZES {1 + len(extents)}\n"
    return SizeTexts(
        ("arena: sizes[0] bytes of scratch memory", f"dims: {named}"),
        f"int32_t {plan_entry}(void *ctx, const int64_t *dims, int64_t *sizes);\n",
        constants,
        _PLAN.format(size_text=comment_text(size_text), **fields),
        ("const int64_t *dims",),
        ("dims",),
        ("(void *)dims",),
    )


def _known_needs(metadata: ModelMetadata, macro: str) -> str:
    """Returns constants for the memory that a run needs besides the arena."""
    rows = zip(("DYNAMIC_BUFFERS", "KERNELS", "EACH_THREAD"), metadata.memory.sizes, _BESIDE, strict=True)
    lines = [f"#define {macro}_{name}_SIZE {size}u /* {text} */\n" for name, size, text in rows]
    comments = [f"/* {comment_text(text)} */\n" for text in _not_counted(metadata)]
    return "".join([*lines, *comments])


def _not_counted(metadata: ModelMetadata) -> list[str]:
    uncounted = metadata.memory.uncounted
    return [f"not counted: {', '.join(uncounted)}"] if uncounted else []


_BESIDE: Final = (
    "maximum bytes that a run holds between kernels",
    "maximum bytes that a kernel allocates",
    "maximum bytes that each thread of a kernel allocates",
)
"""The sizes that a plan has after the extents of outputs."""

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
