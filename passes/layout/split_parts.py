"""`SplitPass`, the base of passes that split products of f32 into parts of bf16, their tiles, error and speeds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xrelay.dialects.relay.core.size_hints import size_hints
from xrelay.index_algebra.dims import Dim, estimate
from xrelay.passes.graph.remarks import Remark, report
from xrelay.passes.infra.xrelay_pass import Numerics, XRelayPass
from xrelay.passes.types.type_solver import function_around
from xrelay.target.instructions import BF16_TILES

RTOL: Final = 1e-4
"""The fraction of the largest result by which results may change; a product changes by about 4e-6."""

NUMERICS: Final = Numerics(f"approximating: other rounding errors; results within {RTOL:g} of the largest value", RTOL)
"""The error of products of parts."""

BLOCK: Final = BF16_TILES.columns
"""The number of columns of a tile, of a block of the weight, and of f32 in a vector."""

ROWS: Final = BF16_TILES.rows
"""The number of rows of a tile, and the least number of rows of a product."""

STEPS: Final = BF16_TILES.steps
"""The maximum number of pairs of terms that an instruction adds; it is a divisor of those of a sum."""

PACKED: Final = f"NC{BLOCK}n{BF16_TILES.terms}c"
"""The layout of the weight, with the terms innermost that an instruction adds in each lane."""

VECTOR_PRODUCTS: Final = 27.0
"""The f32 products that vectors compute in a cycle: 85 % of two units."""

TILE_PRODUCTS: Final = 64.0
"""The f32 products that tiles compute in a cycle from three products of parts."""

KERNEL_CYCLES: Final = 6000.0
"""The cycles to call a kernel that splits a factor."""

GAIN: Final = 1.1
"""The least ratio of the time of the f32 product to that of the split one."""


@dataclass(frozen=True)
class SplitPass(XRelayPass):
    """A pass that splits products into parts of bf16."""

    numerics = NUMERICS
    per_function = True

    vector_lanes: int = field(default=BLOCK, metadata={"help": "the number of f32 in a vector of the target"})
    tiles: tuple[str, ...] = field(default=(), metadata={"help": "the target's instructions on tiles"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place, if the target has the instruction and vectors of 16 f32."""
        if BF16_TILES.name in self.tiles and self.vector_lanes == BLOCK:
            report(self.split(op))

    @abstractmethod
    def split(self, module: ModuleOp) -> list[Remark]:
        """Rewrites a module; returns remarks on rewritten products, and on others with the reason."""


def usual_images(op: Operation, images: Dim) -> int:
    """Returns the number of images of a convolution, one if it is dynamic without a typical size.

    A rewrite that pays off for one image also pays off for several.
    """
    return estimate(images, {name: hint.usual for name, hint in size_hints(function_around(op)).items()}, 1)
