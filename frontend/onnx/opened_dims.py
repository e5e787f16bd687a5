"""Dimensions with a number in the model that the caller makes dynamic, and the nodes that allow a single size of them.

`shapes={"x": ("n", 512)}` replaces the batch 1 of input `x`. A `Reshape` to [1, 512] then requires `512 * n == 512`:
a model that runs for n = 1 alone is not dynamic, so its import is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import onnx
from xdsl.ir import Block

from xrelay.arguments import Extent
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.requirements import requirements_of
from xrelay.errors import ModelImportError
from xrelay.index_algebra.dims import name_and_size
from xrelay.index_algebra.requirement import Equal, Requirement


def opened_names(inputs: Sequence[onnx.ValueInfoProto], shapes: Mapping[str, Sequence[Extent]]) -> frozenset[str]:
    """Returns the names in `shapes` that replace numbers of the model."""
    pairs = [
        (dim, extent)
        for value in inputs
        for dim, extent in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, ()), strict=False)
    ]
    return frozenset(extent for dim, extent in pairs if isinstance(extent, str) and dim.HasField("dim_value"))


def fixing_nodes(block: Block, names: Collection[str]) -> Iterator[ModelImportError]:
    """Yields an error for each op that allows at most one size of a dimension in `names`."""
    for op in block.ops if names else ():
        for requirement in requirements_of(op):
            name, size = _only_size(requirement) or ("", None)
            if name in names:
                sizes = "no size" if size is None else f"only {name} = {size}"
                yield ModelImportError(
                    f"{requirement.label}: {requirement.text} allows {sizes}, and shapes makes {name} dynamic",
                    location=location_of(op),
                    help=f"if the node reshapes to constant sizes, write 0 or -1 for {name} in the model",
                )


def _only_size(requirement: Requirement) -> tuple[str, int | None] | None:
    """Returns the name and the single size that an equation allows; None for other requirements."""
    if not isinstance(requirement, Equal):
        return None
    lhs, rhs = requirement.lhs, requirement.rhs
    if isinstance(lhs, int):
        return name_and_size(rhs, lhs)
    return name_and_size(lhs, rhs) if isinstance(rhs, int) else None
