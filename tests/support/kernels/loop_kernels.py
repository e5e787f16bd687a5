"""Unscheduled kernels at the loop level for the numeric tests, and arguments for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, math, memref, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from xrelay.dialects.loop import LOOP


@dataclass(frozen=True)
class KernelText:
    """A kernel and the initial names of its loops and blocks, for primitives."""

    name: str
    text: str


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (builtin.Builtin, arith.Arith, math.Math, scf.Scf, memref.MemRef, func.Func, LOOP):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def kernel_of(module: ModuleOp) -> func.FuncOp:
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


def arguments_for(kernel: func.FuncOp, seed: int) -> list[NDArray[np.float32]]:
    """Small integers: sums are exact, so every legal order yields the same bits."""
    generator = np.random.default_rng(seed)
    shapes = [SSAValue.get(arg, type=MemRefType).type.get_shape() for arg in kernel.body.block.args]
    arrays = [generator.integers(-4, 5, shape).astype(np.float32) for shape in shapes[:-1]]
    return [*arrays, np.full(shapes[-1], np.nan, np.float32)]


GEMM = KernelText(
    "gemm",
    """
func.func private @gemm(%A: memref<7x5xf32>, %B: memref<5x6xf32>, %C: memref<7x6xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 7 {
    loop.for "j" %j to 6 {
      loop.for "k" %k to 5 {
        loop.block "gemm" (%vi : spatial 7 = %i, %vj : spatial 6 = %j, %vk : reduce 5 = %k)
            reads(%A, %B) writes(%C) init {
          %zero = arith.constant 0.0 : f32
          loop.store %zero, %C[%vi, %vj] : memref<7x6xf32>
        } {
          %a = loop.load %A[%vi, %vk] : memref<7x5xf32>
          %b = loop.load %B[%vk, %vj] : memref<5x6xf32>
          %c = loop.load %C[%vi, %vj] : memref<7x6xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %c, %p : f32
          loop.store %s, %C[%vi, %vj] : memref<7x6xf32>
        }
      }
    }
  }
  func.return
}
""",
)

CONV = KernelText(
    "conv",
    """
func.func private @conv(%X: memref<3x6x7xf32>, %W: memref<4x3x3x3xf32>, %B: memref<4xf32>, %Y: memref<4x6x7xf32>)
    attributes {loop.kernel} {
  %P = memref.alloc() : memref<3x8x9xf32>
  %T = memref.alloc() : memref<4x6x7xf32>
  loop.for "pc" %pc to 3 {
    loop.for "ph" %ph to 8 {
      loop.for "pw" %pw to 9 {
        loop.block "pad" (%vc : spatial 3 = %pc, %vh : spatial 8 = %ph, %vw : spatial 9 = %pw) reads(%X) writes(%P) {
          %one = arith.constant 1 : index
          %seven = arith.constant 7 : index
          %eight = arith.constant 8 : index
          %h0 = arith.cmpi sge, %vh, %one : index
          %h1 = arith.cmpi slt, %vh, %seven : index
          %w0 = arith.cmpi sge, %vw, %one : index
          %w1 = arith.cmpi slt, %vw, %eight : index
          %h = arith.andi %h0, %h1 : i1
          %w = arith.andi %w0, %w1 : i1
          %inside = arith.andi %h, %w : i1
          %v = scf.if %inside -> (f32) {
            %x = loop.load %X[%vc, %vh - 1, %vw - 1] : memref<3x6x7xf32>
            scf.yield %x : f32
          } else {
            %zero = arith.constant 0.0 : f32
            scf.yield %zero : f32
          }
          loop.store %v, %P[%vc, %vh, %vw] : memref<3x8x9xf32>
        }
      }
    }
  }
  loop.for "co" %co to 4 {
    loop.for "ch" %ch to 6 {
      loop.for "cw" %cw to 7 {
        loop.for "ci" %ci to 3 {
          loop.for "kh" %kh to 3 {
            loop.for "kw" %kw to 3 {
              loop.block "conv" (%vo : spatial 4 = %co, %vh : spatial 6 = %ch, %vw : spatial 7 = %cw,
                                 %vi : reduce 3 = %ci, %vy : reduce 3 = %kh, %vx : reduce 3 = %kw)
                  reads(%P, %W) writes(%T) init {
                %zero = arith.constant 0.0 : f32
                loop.store %zero, %T[%vo, %vh, %vw] : memref<4x6x7xf32>
              } {
                %x = loop.load %P[%vi, %vh + %vy, %vw + %vx] : memref<3x8x9xf32>
                %k = loop.load %W[%vo, %vi, %vy, %vx] : memref<4x3x3x3xf32>
                %t = loop.load %T[%vo, %vh, %vw] : memref<4x6x7xf32>
                %p = arith.mulf %x, %k : f32
                %s = arith.addf %t, %p : f32
                loop.store %s, %T[%vo, %vh, %vw] : memref<4x6x7xf32>
              }
            }
          }
        }
      }
    }
  }
  loop.for "o" %o to 4 {
    loop.for "h" %h to 6 {
      loop.for "w" %w to 7 {
        loop.block "relu" (%vo : spatial 4 = %o, %vh : spatial 6 = %h, %vw : spatial 7 = %w)
            reads(%T, %B) writes(%Y) {
          %t = loop.load %T[%vo, %vh, %vw] : memref<4x6x7xf32>
          %b = loop.load %B[%vo] : memref<4xf32>
          %u = arith.addf %t, %b : f32
          %zero = arith.constant 0.0 : f32
          %r = arith.maximumf %u, %zero : f32
          loop.store %r, %Y[%vo, %vh, %vw] : memref<4x6x7xf32>
        }
      }
    }
  }
  func.return
}
""",
)

SOFTMAX = KernelText(
    "softmax",
    """
func.func private @shifted(%X: memref<5x9xf32>, %Y: memref<5x9xf32>) attributes {loop.kernel} {
  %M = memref.alloc() : memref<5xf32>
  loop.for "i" %i to 5 {
    loop.for "k" %k to 9 {
      loop.block "max" (%vi : spatial 5 = %i, %vk : reduce 9 = %k) reads(%X) writes(%M) init {
        %low = arith.constant -1.0e30 : f32
        loop.store %low, %M[%vi] : memref<5xf32>
      } {
        %x = loop.load %X[%vi, %vk] : memref<5x9xf32>
        %m = loop.load %M[%vi] : memref<5xf32>
        %n = arith.maximumf %x, %m : f32
        loop.store %n, %M[%vi] : memref<5xf32>
      }
    }
  }
  loop.for "r" %r to 5 {
    loop.for "c" %c to 9 {
      loop.block "shift" (%vr : spatial 5 = %r, %vc : spatial 9 = %c) reads(%X, %M) writes(%Y) {
        %x = loop.load %X[%vr, %vc] : memref<5x9xf32>
        %m = loop.load %M[%vr] : memref<5xf32>
        %d = arith.subf %x, %m : f32
        loop.store %d, %Y[%vr, %vc] : memref<5x9xf32>
      }
    }
  }
  func.return
}
""",
)

SQUARES = KernelText(
    "squares",
    """
func.func private @squares(%X: memref<6x7xf32>, %Y: memref<6x7xf32>) attributes {loop.kernel} {
  %S = memref.alloc() : memref<6xf32>
  %D = memref.alloc() : memref<6x7xf32>
  loop.for "a" %a to 6 {
    loop.for "b" %b to 7 {
      loop.block "sum" (%va : spatial 6 = %a, %vb : reduce 7 = %b) reads(%X) writes(%S) init {
        %z = arith.constant 0.0 : f32
        loop.store %z, %S[%va] : memref<6xf32>
      } {
        %x = loop.load %X[%va, %vb] : memref<6x7xf32>
        %s = loop.load %S[%va] : memref<6xf32>
        %t = arith.addf %x, %s : f32
        loop.store %t, %S[%va] : memref<6xf32>
      }
    }
  }
  loop.for "c" %c to 6 {
    loop.for "d" %d to 7 {
      loop.block "sub" (%vc : spatial 6 = %c, %vd : spatial 7 = %d) reads(%X, %S) writes(%D) {
        %x = loop.load %X[%vc, %vd] : memref<6x7xf32>
        %s = loop.load %S[%vc] : memref<6xf32>
        %t = arith.subf %x, %s : f32
        loop.store %t, %D[%vc, %vd] : memref<6x7xf32>
      }
    }
  }
  loop.for "e" %e to 6 {
    loop.for "f" %f to 7 {
      loop.block "sq" (%ve : spatial 6 = %e, %vf : spatial 7 = %f) reads(%D) writes(%Y) {
        %x = loop.load %D[%ve, %vf] : memref<6x7xf32>
        %y = loop.load %D[%ve, %vf floordiv 2] : memref<6x7xf32>
        %t = arith.mulf %x, %y : f32
        loop.store %t, %Y[%ve, %vf] : memref<6x7xf32>
      }
    }
  }
  func.return
}
""",
)

POOL = KernelText(
    "pool",
    """
func.func private @pool(%X: memref<2x8x9xf32>, %Y: memref<2x3x4xf32>) attributes {loop.kernel} {
  %R = memref.alloc() : memref<2x8x9xf32>
  loop.for "rc" %rc to 2 {
    loop.for "rh" %rh to 8 {
      loop.for "rw" %rw to 9 {
        loop.block "relu" (%vc : spatial 2 = %rc, %vh : spatial 8 = %rh, %vw : spatial 9 = %rw) reads(%X) writes(%R) {
          %x = loop.load %X[%vc, %vh, %vw] : memref<2x8x9xf32>
          %z = arith.constant 0.0 : f32
          %m = arith.maximumf %x, %z : f32
          loop.store %m, %R[%vc, %vh, %vw] : memref<2x8x9xf32>
        }
      }
    }
  }
  loop.for "c" %c to 2 {
    loop.for "h" %h to 3 {
      loop.for "w" %w to 4 {
        loop.for "y" %y to 3 {
          loop.for "x" %x to 3 {
            loop.block "max" (%vc : spatial 2 = %c, %vh : spatial 3 = %h, %vw : spatial 4 = %w,
                               %vy : reduce 3 = %y, %vx : reduce 3 = %x) reads(%R) writes(%Y) init {
              %l = arith.constant -1.0e9 : f32
              loop.store %l, %Y[%vc, %vh, %vw] : memref<2x3x4xf32>
            } {
              %a = loop.load %R[%vc, %vh * 2 + %vy, %vw * 2 + %vx] : memref<2x8x9xf32>
              %b = loop.load %Y[%vc, %vh, %vw] : memref<2x3x4xf32>
              %m = arith.maximumf %a, %b : f32
              loop.store %m, %Y[%vc, %vh, %vw] : memref<2x3x4xf32>
            }
          }
        }
      }
    }
  }
  func.return
}
""",
)

KERNELS = (GEMM, CONV, SOFTMAX, SQUARES, POOL)
