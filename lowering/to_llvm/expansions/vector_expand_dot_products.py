"""vector-expand-dot-products: sums of four products of bytes by an instruction of the CPU, or by plain arithmetic.

```
%x = vector.broadcast %b : vector<4xi8> to vector<16x4xi8>
%w = vector.shape_cast %v : vector<64xi8> to vector<16x4xi8>
%p = arith.muli (arith.extui %x), (arith.extsi %w) : vector<16x4xi32>
%s = vector.multi_reduction <add>, %p, %acc [1] : vector<16x4xi32> to vector<16xi32>
→
%x = vector.shuffle %b, %b [0, 1, 2, 3, 0, 1, …] : vector<4xi8>, vector<4xi8>
%s = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%acc, %x, %v)
```
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.upstream.arith_extras import ExtSIOp, ExtUIOp
from xrelay.dialects.upstream.vector_extras import MultiReductionOp, ShapeCastOp, vector_type
from xrelay.errors import LoweringError, PassError
from xrelay.lowering.to_llvm.ops import call_intrinsic
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.target.instructions import DOT_TERMS

VPDPBUSD = {
    4: "x86.avx512.vpdpbusd.128",
    8: "x86.avx512.vpdpbusd.256",
    16: "x86.avx512.vpdpbusd.512",
}
"""Maps numbers of lanes to VNNI instructions that add four products of an unsigned and a signed byte to each i32."""

PMADDWD = {
    4: "x86.sse2.pmadd.wd",
    8: "x86.avx2.pmadd.wd",
    16: "x86.avx512.pmaddw.d.512",
}
"""Maps numbers of lanes to instructions that sum two products of signed 16-bit numbers for each i32."""

USDOT = {
    2: "aarch64.neon.usdot.v2i32.v8i8",
    4: "aarch64.neon.usdot.v4i32.v16i8",
}
"""Maps numbers of lanes to I8MM instructions that add four products of an unsigned and a signed byte to each i32."""

SDOT = {
    2: "aarch64.neon.sdot.v2i32.v8i8",
    4: "aarch64.neon.sdot.v4i32.v16i8",
}
"""Maps numbers of lanes to DotProd instructions that add four products of two signed bytes to each i32."""


@dataclass(frozen=True)
class DotProduct:
    """`sums + Σ_t unsigned[lane * 4 + t] * signed[lane * 4 + t]`, in each of `lanes` lanes.

    Both factors are `vector<(4 * lanes)xi8>`, or `vector<4xi8>` if all lanes have the same bytes.
    """

    sums: SSAValue
    unsigned: SSAValue
    signed: SSAValue
    lanes: int


_PURE = (arith.MuliOp, ExtUIOp, ExtSIOp, vector.BroadcastOp, ShapeCastOp)
"""The ops between the loads and the sum."""

Expansion = Callable[[Builder, DotProduct], SSAValue]


def dot_product_of(op: MultiReductionOp) -> DotProduct | None:
    """Returns the operands of the chain that `convert-loop-to-scf` emits; None for another sum."""
    product = op.source.owner
    if not isinstance(product, arith.MuliOp) or op.dims != (1,) or op.kind.data.value != "add":
        return None
    left, right = product.lhs.owner, product.rhs.owner
    if not isinstance(left, ExtUIOp) or not isinstance(right, ExtSIOp):
        return None
    lanes, terms = vector_type(op.source).get_shape()
    unsigned, signed = (_source(each.input.owner, lanes) for each in (left, right))
    if unsigned is None or signed is None or terms != DOT_TERMS or vector_type(op.acc).element_type != i32:
        return None
    return DotProduct(op.acc, unsigned, signed, lanes) if unsigned.type != signed.type else None


def _source(op: Operation | Block, lanes: int) -> SSAValue | None:
    """Returns the bytes of all lanes before a reshape, or those of one lane before a broadcast; None for others."""
    if not isinstance(op, vector.BroadcastOp | ShapeCastOp):
        return None
    count = DOT_TERMS if isinstance(op, vector.BroadcastOp) else DOT_TERMS * lanes
    return op.source if op.source.type == VectorType(i8, [count]) else None


def expand_to_vpdpbusd(build: Builder, dot: DotProduct) -> SSAValue:
    """Emits one instruction."""
    return _added(build, VPDPBUSD[dot.lanes], dot.sums, *_in_all_lanes(build, dot))


def expand_to_usdot(build: Builder, dot: DotProduct) -> SSAValue:
    """Emits one instruction."""
    return _added(build, USDOT[dot.lanes], dot.sums, *_in_all_lanes(build, dot))


def expand_to_sdot(build: Builder, dot: DotProduct) -> SSAValue:
    """Emits two instructions: `Σ x * w = Σ (x - 128) * w - Σ -128 * w`, where both factors are signed bytes.

    The second depends on the signed factor alone; LLVM moves it out of loops that do not change that.
    """
    least = _splat(build, -128, VectorType(i8, [DOT_TERMS * dot.lanes]))
    unsigned, signed = _in_all_lanes(build, dot)
    moved = build.insert(arith.XOrIOp(unsigned, least)).result
    near = _added(build, SDOT[dot.lanes], dot.sums, moved, signed)
    zeros = _splat(build, 0, VectorType(i32, [dot.lanes]))
    return build.insert(arith.SubiOp(near, _added(build, SDOT[dot.lanes], zeros, least, signed))).result


def _added(build: Builder, instruction: str, sums: SSAValue, *factors: SSAValue) -> SSAValue:
    return build.insert(call_intrinsic(instruction, [sums, *factors], sums.type)).results[0]


def expand_to_pmaddwd(build: Builder, dot: DotProduct) -> SSAValue:
    """Widens the bytes at even and at odd positions to 16 bits, and adds their products in pairs."""
    pairs = VectorType(i16, [2 * dot.lanes])
    eight = _splat(build, 8, pairs)
    unsigned, signed = (build.insert(vector.BitcastOp(each, pairs)).result for each in _in_all_lanes(build, dot))
    even = (
        build.insert(arith.AndIOp(unsigned, _splat(build, 255, pairs))).result,
        build.insert(arith.ShRSIOp(build.insert(arith.ShLIOp(signed, eight)).result, eight)).result,
    )
    odd = (
        build.insert(arith.ShRUIOp(unsigned, eight)).result,
        build.insert(arith.ShRSIOp(signed, eight)).result,
    )
    total = dot.sums
    for half in (even, odd):
        added = build.insert(call_intrinsic(PMADDWD[dot.lanes], list(half), dot.sums.type)).results[0]
        total = build.insert(arith.AddiOp(total, added)).result
    return total


def expand_to_arithmetic(build: Builder, dot: DotProduct) -> SSAValue:
    """Widens, multiplies and adds each of the four terms of all lanes; for any CPU."""
    total, wide = dot.sums, VectorType(i32, [dot.lanes])
    for term in range(DOT_TERMS):
        unsigned, signed = (
            _shuffled(build, each, list(range(term, vector_type(each).get_shape()[0], DOT_TERMS)) * _times(dot, each))
            for each in (dot.unsigned, dot.signed)
        )
        factors = build.insert(ExtUIOp(unsigned, wide)).result, build.insert(ExtSIOp(signed, wide)).result
        total = build.insert(arith.AddiOp(total, build.insert(arith.MuliOp(*factors)).result)).result
    return total


def _in_all_lanes(build: Builder, dot: DotProduct) -> list[SSAValue]:
    """Returns the unsigned and the signed factor, with bytes for each lane."""
    return [
        each if _times(dot, each) == 1 else _shuffled(build, each, list(range(DOT_TERMS)) * dot.lanes)
        for each in (dot.unsigned, dot.signed)
    ]


def _times(dot: DotProduct, factor: SSAValue) -> int:
    """Returns the number of lanes that have the same bytes of a factor: 1 or all."""
    return DOT_TERMS * dot.lanes // vector_type(factor).get_shape()[0]


def _shuffled(build: Builder, source: SSAValue, places: list[int]) -> SSAValue:
    mask = DenseArrayBase.from_list(i64, places)
    return build.insert(vector.ShuffleOp(source, source, mask, result_type=VectorType(i8, [len(places)]))).result


def _splat(build: Builder, number: int, type_: VectorType[IntegerType]) -> SSAValue:
    return build.insert(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [number]))).result


INSTRUCTIONS: dict[str, tuple[Expansion, dict[int, str]]] = {
    "vpdpbusd": (expand_to_vpdpbusd, VPDPBUSD),
    "pmaddwd": (expand_to_pmaddwd, PMADDWD),
    "usdot": (expand_to_usdot, USDOT),
    "sdot": (expand_to_sdot, SDOT),
}
"""Maps the name of an instruction to its expansion, and the numbers of lanes that it supports."""


@dataclass(frozen=True)
class VectorExpandDotProductsPass(XRelayPass):
    """Expands sums of four products of bytes to an instruction of the CPU.

    `vpdpbusd` and `usdot` take one instruction; `sdot`, for signed bytes, takes two; `pmaddwd` widens the bytes to 16
    bits, even and odd ones separately, and adds two products at a time. Without `instruction`, or if vectors are longer
    than `width` bits or the instruction does not support their length, each term is multiplied separately.

    Refuses reductions of several dimensions of any other form.
    """

    name = "vector-expand-dot-products"
    numerics = EXACT
    per_function = True

    instruction: str = field(
        default="", metadata={"help": "vpdpbusd, pmaddwd, usdot, sdot, or empty for plain arithmetic"}
    )
    width: int = field(default=512, metadata={"help": "the bits of the longest vectors that have the instruction"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expands every sum in the module."""
        if self.instruction and self.instruction not in INSTRUCTIONS:
            raise PassError(
                f"{self.name}: no instruction is called {self.instruction!r}",
                help=f"known are {', '.join(INSTRUCTIONS)}",
            )
        for reduction in ops_of(op, MultiReductionOp):
            self._expand(reduction)

    def _expand(self, op: MultiReductionOp) -> None:
        dot = dot_product_of(op)
        if dot is None:
            raise LoweringError(
                f"{self.name}: '{op.name}' does not add up products of four bytes, ui8 by i8",
                location=location_of(op),
                help="only the ops that convert-loop-to-scf emits for contracted loops can be converted",
            )
        product = op.source.owner
        build = Builder(InsertPoint.before(op))
        op.dest.replace_all_uses_with(self._select_expansion(dot.lanes)(build, dot))
        op.detach()
        op.erase()
        _erase_unused(product)

    def _select_expansion(self, lanes: int) -> Expansion:
        expansion, widths = INSTRUCTIONS.get(self.instruction, (expand_to_arithmetic, {}))
        return expansion if lanes in widths and lanes * 32 <= self.width else expand_to_arithmetic


def _erase_unused(root: Operation | Block) -> None:
    """Erases an op and its operands' definitions that have become unused."""
    pending = [root]
    while pending:
        op = pending.pop()
        if isinstance(op, _PURE) and not any(result.uses for result in op.results):
            pending += [operand.owner for operand in op.operands]
            op.detach()
            op.erase()
