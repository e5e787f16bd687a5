"""The part of a model's C header about outputs of data-dependent shape: a struct with their addresses and extents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from xrelay.runtime.c_lists import OBJECT_TYPE
from xrelay.runtime.c_names import comment_text
from xrelay.runtime.metadata import TensorSpec


@dataclass(frozen=True)
class DynamicBufferTexts:
    """Pieces of a header: comment lines, declarations, functions; parameters, arguments and body of `run`."""

    comment: tuple[str, ...]
    declarations: str
    functions: str
    parameters: tuple[str, ...]
    names: tuple[str, ...]
    arguments: tuple[str, ...]
    context: str
    """The code of `run` that declares the pointer `context`."""
    failure: str
    """The code of `run` for a failure."""


_NONE: Final = DynamicBufferTexts(
    (), "", "", (), (), (), "  xrelay_context own, *context = &own;\n  memset(&own, 0, sizeof own);\n", ""
)


def dynamic_buffer_texts(
    buffers: Sequence[tuple[TensorSpec, str]], *, prefix: str, release: str, c_type: Callable[[TensorSpec], str]
) -> DynamicBufferTexts:
    """Returns the pieces for outputs and their names in C; `release` is the symbol that frees them."""
    if not buffers:
        return _NONE
    fields: list[str] = []
    lines: list[str] = []
    for spec, name in buffers:
        lines.append(f"{name}: {spec}")
        if spec.containers:
            fields.append(f"  struct {{ const {OBJECT_TYPE} *list; }} {name}; /* {comment_text(str(spec))} */")
            continue
        extents = [extent for extent in spec.shape if isinstance(extent, str)]
        extent_text = "; ".join(f"extents[{number}] = {extent}" for number, extent in enumerate(extents))
        comment = comment_text(f"{spec}: {extent_text}")
        fields.append(f"  struct {{ {c_type(spec)} *data; int64_t extents[{len(extents)}]; }} {name}; /* {comment} */")
    struct = _STRUCT.format(prefix=prefix, fields="\n".join(fields))
    return DynamicBufferTexts(
        (f"results, to which the run writes addresses and extents: {'; '.join(lines)}",),
        struct + f"void {release}(void *ctx);\n",
        _RELEASE.format(prefix=prefix, release=release),
        (f"{prefix}_results *results",),
        ("results",),
        (f"(void *)&results->{buffers[0][1]}",),
        "  xrelay_context *context = &results->context;\n  memset(results, 0, sizeof *results);\n",
        f"  if (status != 0) {prefix}_release(results);\n",
    )


_STRUCT: Final = """\

/* Outputs whose sizes are computed by the run, with their dynamic extents, and lists. */
typedef struct {prefix}_results {{
  xrelay_context context;
{fields}
}} {prefix}_results;
"""

_RELEASE: Final = """\
/* Frees the results of a run; call it once for each successful run. */
static inline void {prefix}_release({prefix}_results *results) {{
  {release}(&results->context);
}}

"""
