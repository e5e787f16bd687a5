"""The view of a kernel identifies the axes of a sum of products by role, in any number and order."""

from __future__ import annotations

import pytest
from xdsl.dialects import func

from xrelay.dialects.topi.named.base import NamedOp
from xrelay.dialects.topi.named.conv import Conv2dNchwcOp, Conv2dNchwOp
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.lowering.registry import pass_thunks
from xrelay.lowering.topi_to_loop.schedules.kernel_view import ProductView, Role
from xrelay.passes.infra.pipeline import run_pipeline
from xrelay.passes.infra.pipeline_text import parse_passes
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.nest_queries import blocks_of


def view(op: type[NamedOp], operands: tuple[str, str], result: str, attributes: str = "") -> ProductView | None:
    text = f"""
    func.func private @k(%x: tensor<{operands[0]}>, %w: tensor<{operands[1]}>) -> tensor<{result}> {{
      %r = {op.name}(%x, %w) {attributes}: (tensor<{operands[0]}>, tensor<{operands[1]}>) -> tensor<{result}>
      func.return %r : tensor<{result}>
    }}"""
    context = full_context()
    module = parse_module(context, text, "k.mlir")
    run_pipeline(module, parse_passes("topi-expand-named,convert-topi-to-loop", pass_thunks()), context=context)
    kernel = next(function for function in module.ops if isinstance(function, func.FuncOp))
    return ProductView.only(list(blocks_of(kernel).values()), op)


CASES = [
    (MatmulOp, ("3x5xf32", "4x5xf32"), "3x4xf32", {Role.ROWS: 3, Role.COLUMNS: 4, Role.DEPTH: 5, Role.LANE: 1}),
    (MatmulOp, ("2x3x5xf32", "4x5xf32"), "2x3x4xf32", {Role.ROWS: 3, Role.COLUMNS: 4, Role.DEPTH: 5}),
    (MatmulOp, ("5xf32", "4x5xf32"), "4xf32", {Role.ROWS: 1, Role.COLUMNS: 4, Role.DEPTH: 5}),
    (BatchMatmulOp, ("2x3x5xf32", "5x4xf32"), "2x3x4xf32", {Role.ROWS: 3, Role.COLUMNS: 4, Role.DEPTH: 5}),
    (
        Conv2dNchwOp,
        ("1x6x7x9xf32", "8x6x1x1xf32"),
        "1x8x7x9xf32",
        {Role.BATCH: 1, Role.CHANNELS: 8, Role.ROWS: 7, Role.COLUMNS: 9, Role.DEPTH: 6},
    ),
    (
        Conv2dNchwcOp,
        ("1x3x7x9x4xf32", "2x3x1x1x4x8xf32"),
        "1x2x7x9x8xf32",
        {Role.CHANNELS: 2, Role.ROWS: 7, Role.COLUMNS: 9, Role.LANE: 8, Role.DEPTH: 3},
    ),
]


@pytest.mark.parametrize(("op", "operands", "result", "extents"), CASES)
def test_axes_have_roles(op: type[NamedOp], operands: tuple[str, str], result: str, extents: dict[Role, int]) -> None:
    found = view(op, operands, result)
    assert found is not None
    assert {role: found.extent(role) for role in extents} == extents
    assert all((found.loop(role) is None) == (extent == 1) for role, extent in extents.items())


def test_a_packed_weight_is_seen_in_its_index() -> None:
    packed = view(MatmulOp, ("3x5xf32", "2x5x16xf32"), "3x32xf32")
    plain = view(MatmulOp, ("3x5xf32", "32x5xf32"), "3x32xf32")
    assert packed is not None
    assert plain is not None
    assert (packed.packed_columns, plain.packed_columns) == (16, None)


def test_another_op_s_sum_is_not_seen() -> None:
    found = view(MatmulOp, ("3x5xf32", "4x5xf32"), "3x4xf32")
    assert found is not None
    assert ProductView.only([found.block], Conv2dNchwOp) is None
    assert ProductView.only([found.block, found.block], MatmulOp) is None
