"""Kernels at the loop level for the numeric tests, unscheduled, with the arguments to run them on."""

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
    """A kernel and the loops and blocks that primitives may name at first."""

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
    """Small whole numbers: sums are exact, so every legal order gives the same bits."""
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

KERNELS = (GEMM, CONV, SOFTMAX)
