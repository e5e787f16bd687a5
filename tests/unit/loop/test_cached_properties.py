"""Cached properties of loop-level ops are updated when an op changes."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.loop import BlockOp, ForOp, IterKind, LoadOp, ValueMap
from xrelay.dialects.loop.extents import interval_of
from xrelay.passes.infra.source import full_context, parse_module
from xrelay.passes.loop.nest_queries import kernels_of, loop_named, loops_of

KERNEL = """
func.func private @copy(%X: memref<6x8xf32>, %Y: memref<6x8xf32>, %n: index) attributes {loop.kernel} {
  loop.for "i" %i to 6 {
    loop.for "j" %j to 8 {
      loop.block "copy" (%v : spatial 6 = %i, %w : spatial 8 = %j) reads(%X) writes(%Y) {
        %x = loop.load %X[%v, %w] : memref<6x8xf32>
        loop.store %x, %Y[%v, %w] : memref<6x8xf32>
      }
    }
  }
  func.return
}
"""


def parts() -> tuple[ModuleOp, ForOp, ForOp, BlockOp, LoadOp]:
    module = parse_module(full_context(), KERNEL, "test")
    loops = loops_of(kernels_of(module)[0])
    block = next(op for op in module.walk() if isinstance(op, BlockOp))
    load = next(op for op in module.walk() if isinstance(op, LoadOp))
    return module, loops["i"], loops["j"], block, load


def test_an_answer_is_the_same_object_until_the_op_changes() -> None:
    _, _, _, block, load = parts()
    assert block.bindings is block.bindings
    assert load.index is load.index
    assert block.bindings[1] is block.bindings[1]


def test_bindings_follow_a_new_map_and_a_single_operand() -> None:
    _, i, j, block, _ = parts()
    assert block.bindings == ValueMap.identity((i.index, j.index))
    block.operands[0] = j.index
    assert block.bindings[0] == ValueMap.identity((j.index,))
    block.bindings = ValueMap.identity((i.index, i.index))
    assert block.bindings.operands == (i.index,)
    assert len(block.bindings) == 2


def test_an_index_follows_its_map_and_its_operands() -> None:
    _, _, _, block, load = parts()
    v, w = block.variables
    assert load.index.operands == (v, w)
    load.operands[1] = w
    assert load.index.operands == (w,)
    load.index = ValueMap.constant(2, 3)
    assert load.index == ValueMap.constant(2, 3)


def test_kinds_and_extents_follow_their_attributes() -> None:
    module, _, _, block, _ = parts()
    assert (block.kinds, block.spatial, block.is_consistent) == ((IterKind.SPATIAL,) * 2, (0, 1), True)
    assert interval_of(block.variables[0]) == (0, 5)
    given = kernels_of(module)[0].body.block.args[2]
    block.set_extents([given, 8])
    assert block.extents == (given, 8)
    block.set_extents([3, 8])
    assert (block.extents, interval_of(block.variables[0])) == ((3, 8), (0, 2))


def test_a_copy_remembers_nothing_of_its_original() -> None:
    _, i, _, block, _ = parts()
    assert block.bindings.operands[0] is i.index
    copy = i.clone()
    copied = next(op for op in copy.walk() if isinstance(op, BlockOp))
    assert copied.bindings.operands[0] is copy.index


def test_a_loop_is_found_by_its_name() -> None:
    module, i, j, _, _ = parts()
    kernel = kernels_of(module)[0]
    assert (loop_named(kernel, "i"), loop_named(kernel, "j"), loop_named(kernel, "k")) == (i, j, None)
