"""Errors of illegal primitives: they name the primitive, loop or block, reason and advice; the kernel is unchanged."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, memref, scf
from xdsl.parser import Parser

from xrelay.dialects.loop import LOOP, SchedulePrimitive
from xrelay.dialects.loop.schedule import (
    CacheInplace,
    CacheRead,
    CacheWrite,
    ComputeAt,
    Cut,
    DisableUnroll,
    Fuse,
    Parallelize,
    PartialSums,
    Reorder,
    ReverseComputeAt,
    Rfactor,
    Split,
    StorageAlign,
    Tile,
    Unroll,
    Vectorize,
    primitive_text,
)
from xrelay.errors import ScheduleError
from xrelay.passes.loop.schedule import Schedule

GEMM = """
func.func private @gemm(%A: memref<12x32xf32>, %B: memref<32x64xf32>, %C: memref<12x64xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 12 {
    loop.for "j" %j to 64 {
      loop.for "k" %k to 32 {
        loop.block "gemm" (%vi : spatial 12 = %i, %vj : spatial 64 = %j, %vk : reduce 32 = %k)
            reads(%A, %B) writes(%C) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %C[%vi, %vj] : memref<12x64xf32>
        } {
          %a = loop.load %A[%vi, %vk] : memref<12x32xf32>
          %b = loop.load %B[%vk, %vj] : memref<32x64xf32>
          %c = loop.load %C[%vi, %vj] : memref<12x64xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %C[%vi, %vj] : memref<12x64xf32>
        }
      }
    }
  }
  func.return
}
"""

TWO = """
func.func private @two(%X: memref<8xf32>, %Y: memref<8x16xf32>, %Z: memref<8xf32>) attributes {loop.kernel} {
  %T = memref.alloc() : memref<8xf32>
  %U = memref.alloc() : memref<8xf32>
  loop.for "a" %a to 8 {
    loop.block "first" (%v : spatial 8 = %a) reads(%X) writes(%T) {
      %x = loop.load %X[%v] : memref<8xf32>
      loop.store %x, %T[%v] : memref<8xf32>
    }
  }
  loop.for "u" %u to 8 {
    loop.block "unused" (%v : spatial 8 = %u) reads(%X) writes(%U) {
      %x = loop.load %X[%v] : memref<8xf32>
      loop.store %x, %U[%v] : memref<8xf32>
    }
  }
  loop.for "i" %i to 8 {
    loop.for "j" %j to 16 {
      loop.block "second" (%vi : spatial 8 = %i, %vj : spatial 16 = %j) reads(%T) writes(%Y) {
        %t = loop.load %T[%vi] : memref<8xf32>
        loop.store %t, %Y[%vi, %vj] : memref<8x16xf32>
      }
    }
  }
  loop.for "z" %z to 8 {
    loop.for "again" %n to 3 {
      loop.block "third" (%v : spatial 8 = %z) reads(%T) writes(%Z) {
        %t = loop.load %T[%v] : memref<8xf32>
        loop.store %t, %Z[%v] : memref<8xf32>
      }
    }
  }
  func.return
}
"""

PAD = """
func.func private @pad(%X: memref<8xf32>, %Y: memref<9xf32>, %n: index) attributes {loop.kernel} {
  loop.for "p" %p to 9 {
    loop.block "pad" (%v : spatial 9 = %p) reads(%X) writes(%Y) {
      %eight = arith.constant 8 : index
      %inside = arith.cmpi slt, %v, %eight : index
      %x = scf.if %inside -> (f32) {
        %l = loop.load %X[%v] : memref<8xf32>
        scf.yield %l : f32
      } else {
        %z = arith.constant 0.0 : f32
        scf.yield %z : f32
      }
      loop.store %x, %Y[%v] : memref<9xf32>
    }
  }
  loop.for "n" %d to %n {
    loop.block "any" (%w : spatial ? = %d) {
    }
  }
  func.return
}
"""

SPATIAL = "parallelize a loop of a spatial variable"

REFUSALS: list[tuple[str, list[SchedulePrimitive], str, str]] = [
    (GEMM, [Split("ii", 3)], "loop 'ii': @gemm has no such loop", "did you mean 'i'?"),
    (GEMM, [Split("i", 0)], "the factor must be positive, got 0", "documentation"),
    (GEMM, [Split("i", 4, names=("k", "x"))], "loop 'k': there is a loop with this name already", "other names"),
    (GEMM, [Parallelize("i"), Split("i", 4)], "loop 'i': it is parallel already", "split it before"),
    (GEMM, [Split("i", 5), Split("i_i", 2)], "2 does not divide its extent 5", "choose a divisor of 5"),
    (PAD, [Split("n", 4)], "its extent is known only at run time", "split before"),
    (GEMM, [Fuse("i", "k")], "loop 'i': 'k' is not the only op directly inside it", "reorder"),
    (GEMM, [Parallelize("i"), Fuse("i", "j")], "loop 'i': it is parallel, 'j' is serial", "before choosing kinds"),
    (GEMM, [Fuse("i", "j", "k")], "there is a loop with this name already", "other names"),
    (GEMM, [Reorder(("i", "i"))], "loop 'i' is named twice", "documentation"),
    (TWO, [Reorder(("j", "a"))], "loop 'a': it is not in one nest with 'j'", "one nest only"),
    (TWO, [ComputeAt("first", "nothing")], "loop 'nothing': @two has no such loop", "there are a, u, i, j, z, again"),
    (TWO, [Vectorize("j"), Reorder(("j", "i"))], "it is vectorized and would not stay innermost", "before vectorizing"),
    (GEMM, [CacheWrite("gemm"), ComputeAt("gemm", "gemm_write_0"), Reorder(("gemm_write_1", "gemm_write_0"))],
     "block 'gemm' is next to it", "separately"),
    (GEMM, [Tile("i", "i", 2, 2)], "two loops are needed, got 'i' twice", "documentation"),
    (GEMM, [Tile("i", "j", 5, 0)], "the factors must be positive, got 0", "documentation"),
    (PAD, [Unroll("n")], "its extent is known only at run time", "name the inner loop"),
    (GEMM, [Parallelize("i"), Unroll("i")], "it is parallel", "unroll a serial loop"),
    (GEMM, [Unroll("i"), Cut("i", 1)], "it is unrolled already", "cut it before making it unrolled"),
    (GEMM, [Cut("k", 1)], "block 'gemm' accumulates in its iterations", "cut a loop around blocks without"),
    (TWO, [Cut("j", 9, 8)], "it may have fewer than 17 iterations", "cut fewer iterations"),
    (GEMM, [Unroll("k"), DisableUnroll("k")], "it is unrolled", "keep a serial or parallel loop rolled"),
    (GEMM, [Vectorize("k")], "reduces over it: its iterations add to the same element", "spatial variable"),
    (GEMM, [Vectorize("j")], "it is not innermost: loop 'k' is inside it", "make it innermost with reorder"),
    (GEMM, [Reorder(("k", "j", "i")), Vectorize("i")], "writes with strides [1, 0]", "change the layout"),
    (PAD, [Vectorize("p")], "block 'pad' runs different branches in different lanes", "another loop"),
    (PAD, [Vectorize("n")], "its extent is known only at run time", "name the inner loop"),
    (TWO, [Vectorize("again")], "writes the same element from every lane", "another loop"),
    (GEMM, [Parallelize("k")], "block 'gemm' reduces over it", SPATIAL),
    (GEMM, [Parallelize("i"), Parallelize("j")], "'i' is parallel already, and parallel loops do not nest", "fuse"),
    (GEMM, [Parallelize("j"), Parallelize("i")], "'j' is parallel already, and parallel loops do not nest", "fuse"),
    (TWO, [Parallelize("again")], "every iteration writes the same elements", SPATIAL),
    (GEMM, [CacheRead("gem", 0)], "block 'gem': @gemm has no such block", "did you mean 'gemm'?"),
    (GEMM, [CacheRead("gemm", -1)], "got -1", "documentation"),
    (GEMM, [CacheRead("gemm", 0), CacheRead("gemm", 2)], "it makes 2 reads, which are numbered from 0", "name one"),
    (GEMM, [CacheRead("gemm", 0, -3)], "its operand has 2 dimensions, there is no dimension -3", "name one"),
    (
        TWO,
        [CacheRead("second", 0), CacheRead("second", 0)],
        "there is a block 'second_read0' already",
        "once",
    ),
    (
        GEMM,
        [CacheWrite("gemm"), ComputeAt("gemm", "gemm_write_0"), CacheRead("gemm", 0)],
        "it is inside another nest already",
        "use cache_read before compute_at",
    ),
    (GEMM, [PartialSums("gemm", "i")], "loop 'i': block 'gemm' does not reduce over it", "over which it reduces"),
    (GEMM, [Fuse("j", "k"), PartialSums("gemm", "j_k")], "are not terms of sums of block 'gemm'", "variable alone"),
    (GEMM, [Unroll("k"), PartialSums("gemm", "k")], "loop 'k': it is unrolled", "name a serial loop"),
    (GEMM, [Split("k", 8), PartialSums("gemm", "k_o", factors=True)], "its terms have no factor", "omit factors"),
    (
        GEMM,
        [Split("k", 8), Reorder(("k_o", "j", "k_i")), Fuse("j", "k_i"), PartialSums("gemm", "k_o")],
        "loop 'j_k_i': spatial and reduce variables use it",
        "move it out of the reduction",
    ),
    (GEMM, [Unroll("k"), Rfactor("gemm", "k")], "loop 'k': it is unrolled", "name a serial loop"),
    (GEMM, [Fuse("j", "k"), Rfactor("gemm", "j_k")], "'j_k': spatial and reduce variables use it", "before fusing"),
    (
        GEMM,
        [CacheWrite("gemm"), ComputeAt("gemm", "gemm_write_0"), Rfactor("gemm", "k")],
        "block 'gemm': it is inside another nest",
        "use rfactor before compute_at",
    ),
    (GEMM, [ReverseComputeAt("gemm", "i")], "block 'gemm': it reduces", "use compute_at for its producer"),
    (TWO, [Split("j", 4), ReverseComputeAt("second", "a")], "not one serial loop for each variable", "before other"),
    (TWO, [ReverseComputeAt("third", "a")], "not one serial loop for each variable", "before other primitives"),
    (TWO, [Vectorize("a"), ReverseComputeAt("second", "a")], "loop 'a': it is vectorized", "name a loop around it"),
    (
        GEMM,
        [Reorder(("k", "i", "j")), CacheWrite("gemm"), ReverseComputeAt("gemm_write", "j")],
        "loop 'k': block 'gemm' reduces over it, so the tile is not complete in 'j'",
        "name a loop around the reduction",
    ),
    (GEMM, [StorageAlign("gemm", 0, 8, 8)], "at least 0 and less than the factor, got 8 and 8", "documentation"),
    (GEMM, [StorageAlign("gemm", -1, 8)], "the dimension must not be negative, got -1", "documentation"),
    (GEMM, [CacheInplace("gemm", "j")], "loop 'j': neither it nor a loop around it is a reduction", "use cache_write"),
    (TWO, [CacheInplace("first", "i")], "loop 'i': block 'first' is not in it", "name a loop around the block"),
    (GEMM, [Unroll("k"), CacheInplace("gemm", "k")], "loop 'k': it is unrolled", "name a serial or parallel loop"),
    (
        GEMM,
        [Split("k", 8), PartialSums("gemm", "k_o"), CacheInplace("gemm", "k_o")],
        "block 'gemm': block 'gemm_zero' in loop 'k_o' uses its result",
        "move that block out of the loop",
    ),
    (
        GEMM,
        [Split("k", 8), Reorder(("k_o", "j", "k_i")), Fuse("j", "k_i"), CacheInplace("gemm", "k_o")],
        "loop 'j_k_i': spatial and reduce variables use it",
        "move it out of the reduction",
    ),
    (GEMM, [CacheWrite("gem")], "block 'gem': @gemm has no such block", "did you mean 'gemm'?"),
    (GEMM, [CacheWrite("gemm", names=("r",))], "1 names for a buffer of rank 2", "one loop per dimension"),
    (GEMM, [CacheWrite("gemm"), CacheWrite("gemm")], "there is a block 'gemm_write' already", "once"),
    (GEMM, [ComputeAt("gemm", "i")], "it writes an argument of the kernel", "use cache_write first"),
    (TWO, [ComputeAt("first", "i")], "'third' reads its result outside loop 'i'", "further out"),
    (TWO, [ComputeAt("unused", "i")], "nothing reads its result", "remove it"),
    (TWO, [ComputeAt("first", "a")], "loop 'a' is around it already", "a loop of its consumer"),
    (
        GEMM,
        [CacheWrite("gemm"), Split("i", 4), ComputeAt("gemm", "gemm_write_0")],
        "spatial variable 0 is not bound to one loop of its own",
        "before splitting",
    ),
    (
        GEMM,
        [CacheWrite("gemm"), Vectorize("gemm_write_1"), ComputeAt("gemm", "gemm_write_1")],
        "loop 'gemm_write_1' is vectorized",
        "a loop around it",
    ),
    (
        GEMM,
        [Fuse("j", "k"), Split("j_k", 3), Reorder(("j_k_i", "j_k_o"))],
        "some elements would be updated before their init",
        "keep the relative order of these loops",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "steps", "reason", "advice"), REFUSALS, ids=[primitive_text(case[1][-1]) for case in REFUSALS]
)
def test_refusal(text: str, steps: list[SchedulePrimitive], reason: str, advice: str):
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, scf.Scf, memref.MemRef, func.Func, LOOP):
        context.load_dialect(dialect)
    kernel = Parser(context, text).parse_module().body.block.first_op
    assert isinstance(kernel, func.FuncOp)
    schedule = Schedule(kernel).apply(*steps[:-1])
    before = str(kernel)
    with pytest.raises(ScheduleError) as raised:
        schedule.apply(steps[-1])
    assert raised.value.message.startswith(steps[-1].primitive)
    assert reason in raised.value.message
    assert advice in (raised.value.help or "")
    assert str(kernel) == before
