"""Instructions that compute sums of products, with the loops that they replace.

A schedule marks a nest of loops, and the last levels select an instruction by this table. The name of an instruction is
that of LLVM's intrinsic for x86, and of the assembly for aarch64.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DOT_TERMS = 4
"""The number of byte products that an instruction adds to a 32-bit sum: `vpdpbusd` of x86, `usdot` of aarch64."""

PAIR_TERMS = 2
"""The number of products of bf16 that an instruction adds to an f32: `tdpbf16ps` of x86."""

GROUP_BYTES = 4
"""The size in bytes of the terms that an instruction adds to a sum."""


@dataclass(frozen=True)
class DotProduct:
    """An instruction on vectors that adds products of bytes or 16-bit integers to 32-bit sums.

    ```
    for lane in bits / 32: for term in DOT_TERMS: sums[lane] += unsigned[term] * signed[lane, term]
    ```
    """

    name: str
    bits: int
    """The width of its widest vectors."""
    features: tuple[str, ...]


@dataclass(frozen=True)
class TileProduct:
    """An instruction on tile registers that adds the product of two matrices to a matrix of 32-bit sums.

    The factors are bytes, unsigned and signed, for sums of type i32, and bf16 for sums of type f32. Each argument is a
    tile. The instruction supports smaller tiles, too.

    ```
    for row in rows: for column in columns: for step in steps: for term in terms:
        sums[row, column] += data[row, step, term] * weight[step, column, term]
    ```
    """

    name: str
    features: tuple[str, ...]
    sum_type: str
    """The type of a sum, `i32` or `f32`: a text, since a known model opens without xDSL."""
    terms: int
    """The number of products that a step adds to each sum."""
    rows: int = 16
    columns: int = 16
    steps: int = 16
    registers: int = 8
    """The number of tile registers. A tile of sums and a tile of a factor take a register each."""


DOT_PRODUCTS: Mapping[str, tuple[DotProduct, ...]] = {
    "x86_64": (
        DotProduct("vpdpbusd", 512, ("avx512f", "avx512vl", "avx512vnni")),
        DotProduct("vpdpbusd", 256, ("avx2", "avxvnni")),
        DotProduct("pmaddwd", 512, ("avx512f", "avx512vl", "avx512bw")),
        DotProduct("pmaddwd", 256, ("avx2",)),
        DotProduct("pmaddwd", 128, ()),
    ),
    "aarch64": (
        DotProduct("usdot", 128, ("i8mm",)),
        DotProduct("sdot", 128, ("dotprod",)),
    ),
}
"""Maps an architecture to its instructions on vectors, the best first."""

BF16_TILES = TileProduct("tdpbf16ps", ("amx-tile", "amx-bf16"), "f32", PAIR_TERMS)
"""The instruction on tiles of bf16."""

TILE_PRODUCTS: Mapping[str, tuple[TileProduct, ...]] = {
    "x86_64": (
        TileProduct("tdpbusd", ("amx-tile", "amx-int8"), "i32", DOT_TERMS),
        BF16_TILES,
    ),
}
"""Maps an architecture to its instructions on tiles, one for each type of sums."""


def find_tile_product(name: str) -> TileProduct | None:
    """Returns the instruction on tiles called `name`, of any architecture; `None` for an unknown name."""
    return next((each for known in TILE_PRODUCTS.values() for each in known if each.name == name), None)
