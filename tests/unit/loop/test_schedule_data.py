"""Schedules as data: text and Python forms are equivalent, and other packages can add primitives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.parser import Parser
from xdsl.utils.arg_spec import parse_pipeline

from xrelay.dialects.loop import LOOP, LoopKind, ScheduleAttr, SchedulePrimitive, Tail
from xrelay.dialects.loop.schedule import (
    PRIMITIVES,
    CacheWrite,
    Fuse,
    Reorder,
    Split,
    names,
    primitive_text,
    register_primitive,
)
from xrelay.errors import ScheduleError
from xrelay.passes.loop.nest_queries import loops_of
from xrelay.passes.loop.primitives.legality import find_loop
from xrelay.passes.loop.primitives.rewrites import REWRITES, primitive_pass, rewrites
from xrelay.passes.loop.schedule import Schedule, apply_schedule

KERNEL = """
func.func private @copy(%X: memref<6xf32>, %Y: memref<6xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 6 {
    loop.block "copy" (%v : spatial 6 = %i) reads(%X) writes(%Y) {
      %x = loop.load %X[%v] : memref<6xf32>
      loop.store %x, %Y[%v] : memref<6xf32>
    }
  }
  func.return
}
"""


def context() -> Context:
    result = Context()
    for dialect in (Builtin, func.Func, LOOP):
        result.load_dialect(dialect)
    return result


def kernel() -> func.FuncOp:
    module = Parser(context(), KERNEL).parse_module()
    found = module.body.block.first_op
    assert isinstance(found, func.FuncOp)
    return found


STEPS = (
    Split("ow", 14, Tail.MASK),
    Split("oc", 4, names=("oa", "ob")),
    Fuse("n", "oc"),
    Fuse("n", "oc", "p"),
    Reorder(("a", "b", "c")),
    CacheWrite("gemm"),
)


def test_text_gives_the_dataclasses_back():
    attr = ScheduleAttr(STEPS)
    text = str(attr)
    assert text.startswith(
        '#loop.schedule<[split("ow", 14, tail = mask), split("oc", 4, names = ["oa", "ob"]), fuse("n",'
    )
    assert Parser(context(), text).parse_attribute() == attr


def test_applied_primitives_are_recorded():
    schedule = Schedule(kernel()).split("i", 3).unroll("i_i")
    assert str(schedule.attr) == '#loop.schedule<[split("i", 3), unroll("i_i")]>'
    with pytest.raises(ScheduleError, match="no such loop"):
        schedule.unroll("i")
    assert len(schedule.primitives) == 2


def test_errors_name_kernel_and_step():
    with pytest.raises(ScheduleError) as raised:
        apply_schedule(kernel(), [Split("i", 3), Split("i", 2)])
    assert str(raised.value).startswith("@copy, step 2: split(\"i\", 2): loop 'i': @copy has no such loop; help: ")


@dataclass(frozen=True)
class MakeSerial(SchedulePrimitive):
    primitive: ClassVar[str] = "make_serial"
    loop: str = field(metadata=names("the loop"))


@pytest.fixture
def make_serial() -> Iterator[None]:
    register_primitive(MakeSerial)

    @rewrites(MakeSerial)
    def rewrite(kernel: func.FuncOp, step: MakeSerial) -> None:
        find_loop(kernel, step.loop, step).kind = LoopKind.SERIAL

    yield
    del PRIMITIVES["make_serial"], REWRITES["make_serial"]


@pytest.mark.usefixtures("make_serial")
def test_another_package_adds_a_primitive():
    attr = Parser(context(), '#loop.schedule<[unroll("i"), make_serial("i")]>').parse_attribute()
    assert isinstance(attr, ScheduleAttr)
    assert primitive_text(attr.data[1]) == 'make_serial("i")'
    target = kernel()
    apply_schedule(target, attr.data)
    assert find_loop(target, "i", attr.data[1]).kind is LoopKind.SERIAL


@pytest.mark.usefixtures("make_serial")
def test_the_pass_of_another_package_s_primitive_follows():
    made = primitive_pass(MakeSerial, "loop=i")
    assert (made.name, made.__name__) == ("loop-make-serial", "LoopMakeSerialPass")
    assert {option.name: option.metadata["help"] for option in fields(made)}["loop"] == "the loop"
    assert "loop-make-serial{loop=i}" in (made.__doc__ or "")
    target = kernel()
    Schedule(target).unroll("i")
    target.detach()
    (spec,) = parse_pipeline("loop-make-serial{loop=i}")
    made.from_pass_spec(spec).apply(context(), ModuleOp([target]))
    assert loops_of(target)["i"].kind is LoopKind.SERIAL
