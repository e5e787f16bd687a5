"""convert-amx-to-llvm: ops on tiles become LLVM's intrinsics, whose tile registers LLVM allocates and configures.

The intrinsics with the suffix `.internal` take the shape of each tile as arguments. From them, LLVM configures the tile
registers at the start of each function that has tiles, so each thread of a parallel loop configures its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, i16
from xdsl.ir import Operation, SSAValue

from xrelay.dialects.upstream.amx import (
    TileLoadOp,
    TileMulFOp,
    TileMulIOp,
    TileStoreOp,
    TileType,
    TileZeroOp,
    tile_type,
)
from xrelay.dialects.upstream.llvm_extras import LLVMX86AMXType
from xrelay.lowering.to_llvm.addressing import element_address
from xrelay.lowering.to_llvm.ops import WRAPS, call_intrinsic, constant, overflowing
from xrelay.lowering.to_llvm.types import llvm_types
from xrelay.passes.infra.conversion import (
    AnyPattern,
    ConversionPattern,
    ConversionRewriter,
    apply_conversion,
    legal_outside,
)
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

TILE = LLVMX86AMXType()


class ConvertTileZero(ConversionPattern[TileZeroOp]):
    """`amx.tile_zero` → `llvm.x86.tilezero.internal`."""

    def rewrite(self, op: TileZeroOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the intrinsic."""
        shape = _shape(tile_type(op.res), rewriter)
        rewriter.replace(op, rewriter.insert(call_intrinsic("x86.tilezero.internal", shape, TILE)))
        return None


class ConvertTileLoad(ConversionPattern[TileLoadOp]):
    """`amx.tile_load %m[%i], %stride` → `llvm.x86.tileloadd64.internal`."""

    def rewrite(self, op: TileLoadOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and the distance of rows in bytes, and loads."""
        memory = _memory(op, tile_type(op.res), rewriter)
        if isinstance(memory, str):
            return memory
        arguments = [*_shape(tile_type(op.res), rewriter), *memory]
        rewriter.replace(op, rewriter.insert(call_intrinsic("x86.tileloadd64.internal", arguments, TILE)))
        return None


class ConvertTileStore(ConversionPattern[TileStoreOp]):
    """`amx.tile_store %m[%i], %tile, %stride` → `llvm.x86.tilestored64.internal`."""

    def rewrite(self, op: TileStoreOp, rewriter: ConversionRewriter) -> str | None:
        """Computes the address and the distance of rows in bytes, and stores."""
        memory = _memory(op, tile_type(op.val), rewriter)
        if isinstance(memory, str):
            return memory
        arguments = [*_shape(tile_type(op.val), rewriter), *memory, rewriter.operand(op.val)]
        rewriter.insert(call_intrinsic("x86.tilestored64.internal", arguments, None))
        rewriter.erase(op)
        return None


class ConvertTileMulI(ConversionPattern[TileMulIOp]):
    """`amx.tile_muli %a zext, %b, %c` → `llvm.x86.tdpbusd.internal`."""

    def rewrite(self, op: TileMulIOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the intrinsic for the signs of the factors."""
        signs = ("s" if op.zext_lhs is None else "u") + ("s" if op.zext_rhs is None else "u")
        _convert_product(op, f"x86.tdpb{signs}d.internal", rewriter)
        return None


class ConvertTileMulF(ConversionPattern[TileMulFOp]):
    """`amx.tile_mulf %a, %b, %c` → `llvm.x86.tdpbf16ps.internal`."""

    def rewrite(self, op: TileMulFOp, rewriter: ConversionRewriter) -> str | None:
        """Calls the intrinsic."""
        _convert_product(op, "x86.tdpbf16ps.internal", rewriter)
        return None


def _convert_product(op: TileMulIOp | TileMulFOp, intrinsic: str, rewriter: ConversionRewriter) -> None:
    """Replaces a product of tiles by a call of an intrinsic."""
    lhs, rhs = tile_type(op.lhs), tile_type(op.rhs)
    sizes = [rewriter.insert(constant(size, i16)).result for size in (lhs.rows, rhs.row_bytes, lhs.row_bytes)]
    tiles = rewriter.operands([op.acc, op.lhs, op.rhs])
    rewriter.replace(op, rewriter.insert(call_intrinsic(intrinsic, [*sizes, *tiles], TILE)))


def _shape(type_: TileType, rewriter: ConversionRewriter) -> list[SSAValue]:
    """Returns the number of rows and the bytes of a row."""
    return [rewriter.insert(constant(size, i16)).result for size in (type_.rows, type_.row_bytes)]


def _memory(op: TileLoadOp | TileStoreOp, type_: TileType, rewriter: ConversionRewriter) -> list[SSAValue] | str:
    """Returns the address of a tile and the distance of its rows in bytes, or why the tile has no address."""
    address = element_address(op.base, op.indices, rewriter)
    if isinstance(address, str):
        return address
    stride, size = rewriter.operand(op.stride), type_.element_bytes
    if size > 1:
        factor = rewriter.insert(constant(size, stride.type)).result
        stride = rewriter.insert(overflowing(llvm.MulOp, stride, factor, WRAPS)).results[0]
    return [address.pointer, stride]


PATTERNS: tuple[AnyPattern, ...] = (
    ConvertTileZero(),
    ConvertTileLoad(),
    ConvertTileStore(),
    ConvertTileMulI(),
    ConvertTileMulF(),
)
"""The patterns of this pass."""


@dataclass(frozen=True)
class ConvertAmxToLLVMPass(XRelayPass):
    """Converts ops on tiles to calls of LLVM's intrinsics.

    ```
    %t = amx.tile_load %m[%i, %j], %s : memref<128x64xi8> into !amx.tile<16x64xi8>
    →
    %t = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%rows, %bytes, %pointer, %s) : … -> !llvm.x86_amx
    ```

    Refuses buffers whose strides are dynamic.
    """

    name = "convert-amx-to-llvm"
    numerics = EXACT
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Converts every op on tiles in the module."""
        convert(op)


def convert(top: Operation) -> None:
    """Converts every op on tiles in `top`."""
    apply_conversion(top, PATTERNS, is_legal=legal_outside("amx"), types=llvm_types())
