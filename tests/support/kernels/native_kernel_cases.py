"""Kernels of the loop level as text, each with its definition in numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]


@dataclass(frozen=True)
class Case:
    """A function `@k` with its arguments' shapes and dtypes, inputs first; `expected` maps inputs to outputs."""

    name: str
    text: str
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]
    expected: Callable[..., tuple[Array, ...]]
    tolerance: float = 1e-5

    def arrays(self, seed: int = 0) -> tuple[list[Array], list[Array]]:
        """Random inputs, and outputs filled with a value that no kernel computes."""
        random = np.random.default_rng(seed)
        inputs: list[Array] = []
        for shape, dtype in self.inputs:
            if np.issubdtype(np.dtype(dtype), np.floating):
                inputs.append(random.standard_normal(shape).astype(dtype))
            else:
                inputs.append(random.integers(0, 7, shape).astype(dtype))
        return inputs, [np.full(shape, 77, dtype) for shape, dtype in self.outputs]


def _case(name: str, text: str, inputs: str, outputs: str, expected: Callable[..., tuple[Array, ...]]) -> Case:
    def shapes(spec: str) -> tuple[tuple[tuple[int, ...], str], ...]:
        parsed: list[tuple[tuple[int, ...], str]] = []
        for each in spec.split():
            *sizes, dtype = each.split("x")
            parsed.append((tuple(int(size) for size in sizes), _DTYPES[dtype]))
        return tuple(parsed)

    return Case(name, text, shapes(inputs), shapes(outputs), expected)


_DTYPES = {"f32": "float32", "f64": "float64", "i32": "int32", "i64": "int64", "i8": "int8", "i1": "bool"}


def elementwise(kind: str, tail: str, extent: int = 40, inner: str = "vectorized") -> Case:
    """`y = x * x + x` over tiles of 16."""
    text = f"""
func.func @k(%X: memref<{extent}xf32>, %Y: memref<{extent}xf32>) attributes {{loop.kernel}} {{
  loop.for "o" %o to {-(-extent // 16)} {kind} tail = {tail} {{
    loop.for "i" %i to 16 {inner} {{
      loop.block "b" (%v : spatial {extent} = %o * 16 + %i) reads(%X) writes(%Y) {{
        %x = loop.load %X[%v] : memref<{extent}xf32>
        %p = arith.mulf %x, %x : f32
        %s = arith.addf %p, %x : f32
        loop.store %s, %Y[%v] : memref<{extent}xf32>
      }}
    }}
  }}
  func.return
}}
"""
    name = f"elementwise-{kind or 'serial'}-{tail}-{extent}-{inner}"
    return _case(name, text, f"{extent}xf32", f"{extent}xf32", lambda x: (x * x + x,))


def matmul(tail: str, rows: int, columns: int, depth: int, local: bool) -> Case:
    """`C = A B` with a 4x16 tile, extents that tiles do not divide, and the reduction split by 8."""
    space = ', "local"' if local else ""
    target = f"memref<4x16xf32{space}>" if local else f"memref<{rows}x{columns}xf32>"
    place = "%r - %io * 4, %c - %jo * 16" if local else "%r, %c"
    buffer = "%acc" if local else "%C"
    write = f"""
      loop.for "wi" %wi to 4 unrolled {{
        loop.for "wj" %wj to 16 vectorized {{
          loop.block "w" (%r : spatial {rows} = %io * 4 + %wi, %c : spatial {columns} = %jo * 16 + %wj)
              reads(%acc) writes(%C) {{
            %v = loop.load %acc[{place}] : {target}
            loop.store %v, %C[%r, %c] : memref<{rows}x{columns}xf32>
          }}
        }}
      }}"""
    text = f"""
func.func @k(%A: memref<{rows}x{depth}xf32>, %B: memref<{depth}x{columns}xf32>, %C: memref<{rows}x{columns}xf32>)
    attributes {{loop.kernel}} {{
  loop.for "io" %io to {-(-rows // 4)} tail = {tail} {{
    loop.for "jo" %jo to {-(-columns // 16)} tail = {tail} {{
      {f"%acc = memref.alloc() : {target}" if local else ""}
      loop.for "ko" %ko to {-(-depth // 8)} {{
        loop.for "ki" %ki to 8 {{
          loop.for "ii" %ii to 4 unrolled {{
            loop.for "ji" %ji to 16 vectorized {{
              loop.block "mm" (%r : spatial {rows} = %io * 4 + %ii, %c : spatial {columns} = %jo * 16 + %ji,
                               %k : reduce {depth} = %ko * 8 + %ki) reads(%A, %B) writes({buffer}) init {{
                %z = arith.constant 0.0 : f32
                loop.store %z, {buffer}[{place}] : {target}
              }} {{
                %a = loop.load %A[%r, %k] : memref<{rows}x{depth}xf32>
                %b = loop.load %B[%k, %c] : memref<{depth}x{columns}xf32>
                %s = loop.load {buffer}[{place}] : {target}
                %p = arith.mulf %a, %b fastmath<contract> : f32
                %t = arith.addf %s, %p fastmath<contract> : f32
                loop.store %t, {buffer}[{place}] : {target}
              }}
            }}
          }}
        }}
      }}{write if local else ""}
    }}
  }}
  func.return
}}
"""
    return _case(
        f"matmul-{tail}-{rows}x{columns}x{depth}-{'local' if local else 'memory'}",
        text,
        f"{rows}x{depth}xf32 {depth}x{columns}xf32",
        f"{rows}x{columns}xf32",
        lambda a, b: (a @ b,),
    )


PADDED = """
func.func @k(%X: memref<3x10xf32>, %Y: memref<3x24xf32>) attributes {loop.kernel} {
  loop.for "r" %r to 3 {
    loop.for "i" %i to 24 vectorized {
      loop.block "pad" (%a : spatial 3 = %r, %b : spatial 24 = %i) reads(%X) writes(%Y) {
        %five = arith.constant 5 : index
        %ten = arith.constant 10 : index
        %zero = arith.constant 0 : index
        %s = arith.subi %b, %five : index
        %low = arith.cmpi sge, %s, %zero : index
        %high = arith.cmpi slt, %s, %ten : index
        %in = arith.andi %low, %high : i1
        %v = scf.if %in -> (f32) {
          %x = loop.load %X[%a, %b - 5] : memref<3x10xf32>
          scf.yield %x : f32
        } else {
          %c = arith.constant -1.0 : f32
          scf.yield %c : f32
        }
        loop.store %v, %Y[%a, %b] : memref<3x24xf32>
      }
    }
  }
  func.return
}
"""

PADDED_UNSIGNED = """
func.func @k(%X: memref<3x10xf32>, %Y: memref<5x12xf32>) attributes {loop.kernel} {
  loop.for "r" %r to 5 {
    loop.for "i" %i to 12 vectorized {
      loop.block "pad" (%a : spatial 5 = %r, %b : spatial 12 = %i) reads(%X) writes(%Y) {
        %minus = arith.constant -1 : index
        %three = arith.constant 3 : index
        %ten = arith.constant 10 : index
        %s = arith.addi %a, %minus overflow<nsw> : index
        %t = arith.addi %b, %minus overflow<nsw> : index
        %rows = arith.cmpi ult, %s, %three : index
        %columns = arith.cmpi ult, %t, %ten : index
        %in = arith.andi %rows, %columns : i1
        %v = scf.if %in -> (f32) {
          %x = loop.load %X[%a - 1, %b - 1] : memref<3x10xf32>
          scf.yield %x : f32
        } else {
          %c = arith.constant 0.0 : f32
          scf.yield %c : f32
        }
        loop.store %v, %Y[%a, %b] : memref<5x12xf32>
      }
    }
  }
  func.return
}
"""

MATH = """
func.func @k(%X: memref<5x40xf32>, %Y: memref<5x40xf32>) attributes {loop.kernel} {
  loop.for "r" %r to 5 {
    loop.for "o" %o to 3 tail = mask {
      loop.for "i" %i to 16 vectorized {
        loop.block "b" (%a : spatial 5 = %r, %b : spatial 40 = %o * 16 + %i) reads(%X) writes(%Y) {
          %x = loop.load %X[%a, %b] : memref<5x40xf32>
          %e = math.exp %x : f32
          %t = math.tanh %x : f32
          %s = arith.addf %e, %t : f32
          loop.store %s, %Y[%a, %b] : memref<5x40xf32>
        }
      }
    }
  }
  func.return
}
"""

STRIDED = """
func.func @k(%X: memref<16x8xf32>, %Y: memref<8x16xf32>, %Z: memref<32x3xf32>) attributes {loop.kernel} {
  loop.for "r" %r to 8 {
    loop.for "i" %i to 16 vectorized {
      loop.block "t" (%a : spatial 8 = %r, %b : spatial 16 = %i) reads(%X) writes(%Y) {
        %x = loop.load %X[%b, %a] : memref<16x8xf32>
        loop.store %x, %Y[%a, %b] : memref<8x16xf32>
      }
    }
  }
  loop.for "q" %q to 4 tail = mask {
    loop.for "j" %j to 8 vectorized {
      loop.block "u" (%b : spatial 30 = %q * 8 + %j) reads(%X) writes(%Z) {
        %x = loop.load %X[%b floordiv 2, %b mod 2] : memref<16x8xf32>
        loop.store %x, %Z[%b, 1] : memref<32x3xf32>
      }
    }
  }
  func.return
}
"""

GATHER = """
func.func @k(%X: memref<7x16xf32>, %I: memref<24xi32>, %Y: memref<24xf32>) attributes {loop.kernel} {
  loop.for "o" %o to 2 tail = mask {
    loop.for "i" %i to 16 vectorized {
      loop.block "g" (%a : spatial 24 = %o * 16 + %i) reads(%X, %I) writes(%Y) {
        %r = loop.load %I[%a] : memref<24xi32>
        %n = arith.index_cast %r : i32 to index
        %x = loop.load %X[%n, 3] : memref<7x16xf32>
        loop.store %x, %Y[%a] : memref<24xf32>
      }
    }
  }
  func.return
}
"""

MIXED_TYPES = """
func.func @k(%X: memref<20xf32>, %N: memref<20xi32>, %Y: memref<20xf64>, %B: memref<20xi1>, %M: memref<20xi32>)
    attributes {loop.kernel} {
  loop.for "o" %o to 3 tail = mask {
    loop.for "i" %i to 8 vectorized {
      loop.block "b" (%a : spatial 20 = %o * 8 + %i) reads(%X, %N) writes(%Y, %B, %M) {
        %x = loop.load %X[%a] : memref<20xf32>
        %n = loop.load %N[%a] : memref<20xi32>
        %w = arith.extf %x : f32 to f64
        loop.store %w, %Y[%a] : memref<20xf64>
        %zero = arith.constant 0.0 : f32
        %p = arith.cmpf ogt, %x, %zero : f32
        loop.store %p, %B[%a] : memref<20xi1>
        %one = arith.constant 1 : i32
        %d = arith.addi %n, %one : i32
        %seven = arith.constant 100 : i32
        %q = arith.divsi %seven, %d : i32
        %e = arith.select %p, %q, %n : i32
        loop.store %e, %M[%a] : memref<20xi32>
      }
    }
  }
  func.return
}
"""

PARALLEL = """
func.func @k(%X: memref<6x5x40xf32>, %Y: memref<6x5x40xf32>) attributes {loop.kernel} {
  %t = memref.alloc() : memref<40xf32, "local">
  loop.for "i" %i to 6 parallel {
    loop.for "j" %j to 5 parallel {
      loop.for "k" %k to 40 {
        loop.block "c" (%a : spatial 6 = %i, %b : spatial 5 = %j, %c : spatial 40 = %k) reads(%X) writes(%t) {
          %x = loop.load %X[%a, %b, %c] : memref<6x5x40xf32>
          loop.store %x, %t[%c] : memref<40xf32, "local">
        }
      }
      loop.for "l" %l to 40 parallel {
        loop.block "d" (%a : spatial 6 = %i, %b : spatial 5 = %j, %c : spatial 40 = %l) reads(%t) writes(%Y) {
          %x = loop.load %t[%c * -1 + 39] : memref<40xf32, "local">
          loop.store %x, %Y[%a, %b, %c] : memref<6x5x40xf32>
        }
      }
    }
  }
  func.return
}
"""

ROW_SUM = """
func.func @k(%X: memref<5x100xf32>, %S: memref<5xf32>, %M: memref<5xf32>) attributes {loop.kernel} {
  loop.for "i" %i to 5 {
    loop.for "k" %k to 100 {
      loop.block "sum" (%a : spatial 5 = %i, %r : reduce 100 = %k) reads(%X) writes(%S) init {
        %z = arith.constant 0.0 : f32
        loop.store %z, %S[%a] : memref<5xf32>
      } {
        %x = loop.load %X[%a, %r] : memref<5x100xf32>
        %s = loop.load %S[%a] : memref<5xf32>
        %t = arith.addf %s, %x fastmath<reassoc,contract> : f32
        loop.store %t, %S[%a] : memref<5xf32>
      }
    }
  }
  loop.for "i2" %i to 1 {
    loop.for "v" %v to 5 vectorized {
      loop.for "k2" %k to 100 {
        loop.block "max" (%a : spatial 5 = %i * 5 + %v, %r : reduce 100 = %k) reads(%X) writes(%M) init {
          %z = arith.constant 0xFF800000 : f32
          loop.store %z, %M[%a] : memref<5xf32>
        } {
          %x = loop.load %X[%a, %r] : memref<5x100xf32>
          %s = loop.load %M[%a] : memref<5xf32>
          %t = arith.maximumf %s, %x : f32
          loop.store %t, %M[%a] : memref<5xf32>
        }
      }
    }
  }
  func.return
}
"""

PRIVATE_LANES = """
func.func @k(%X: memref<16x12xf32>, %b: memref<12xf32>, %Y: memref<16xf32>) attributes {loop.kernel} {
  %acc = memref.alloc() : memref<1xf32, "local">
  loop.for "v" %v to 16 vectorized {
    loop.for "k" %k to 12 {
      loop.block "dot" (%a : spatial 16 = %v, %r : reduce 12 = %k) reads(%X, %b) writes(%acc) init {
        %z = arith.constant 0.5 : f32
        loop.store %z, %acc[0] : memref<1xf32, "local">
      } {
        %x = loop.load %X[%a, %r] : memref<16x12xf32>
        %y = loop.load %b[%r] : memref<12xf32>
        %s = loop.load %acc[0] : memref<1xf32, "local">
        %p = arith.mulf %y, %x fastmath<contract> : f32
        %t = arith.addf %p, %s fastmath<contract> : f32
        loop.store %t, %acc[0] : memref<1xf32, "local">
      }
    }
    loop.block "w" (%a : spatial 16 = %v) reads(%acc) writes(%Y) {
      %s = loop.load %acc[0] : memref<1xf32, "local">
      loop.store %s, %Y[%a] : memref<16xf32>
    }
  }
  func.return
}
"""

FUSED_LOOP = """
func.func @k(%X: memref<6x7xf32>, %c: memref<7xf32>, %Y: memref<6x7xf32>) attributes {loop.kernel} {
  loop.for "f" %f to 6 {
    loop.for "g" %g to 8 vectorized {
      loop.block "b" (%n : spatial 42 = %f * 8 + %g) reads(%X, %c) writes(%Y) {
        %x = loop.load %X[%n floordiv 7, %n mod 7] : memref<6x7xf32>
        %d = loop.load %c[%n mod 7] : memref<7xf32>
        %s = arith.addf %x, %d : f32
        loop.store %s, %Y[%n floordiv 7, %n mod 7] : memref<6x7xf32>
      }
    }
  }
  func.return
}
"""


def _mixed(x: Array, n: Array) -> tuple[Array, ...]:
    positive = x > 0
    return x.astype(np.float64), positive, np.where(positive, 100 // (n + 1), n).astype(np.int32)


def _strided(x: Array) -> tuple[Array, ...]:
    z = np.full((32, 3), 77, np.float32)
    z[:30, 1] = x[:15, :2].reshape(30)
    return np.ascontiguousarray(x.T), z


CASES = [
    *(elementwise(kind, tail) for kind in ("", "parallel") for tail in ("peel", "mask")),
    *(elementwise("", tail, extent) for tail in ("peel", "mask") for extent in (5, 16, 32, 33)),
    *(elementwise("unrolled", tail, inner=i) for tail in ("peel", "mask") for i in ("", "unrolled", "parallel")),
    *(matmul(tail, 10, 40, 21, local) for tail in ("peel", "mask") for local in (False, True)),
    matmul("peel", 3, 5, 2, True),
    _case("padded", PADDED, "3x10xf32", "3x24xf32",
          lambda x: (np.pad(x, ((0, 0), (5, 9)), constant_values=-1.0),)),
    _case("padded-unsigned", PADDED_UNSIGNED, "3x10xf32", "5x12xf32", lambda x: (np.pad(x, 1),)),
    _case("math", MATH, "5x40xf32", "5x40xf32", lambda x: (np.exp(x) + np.tanh(x),)),
    _case("strided", STRIDED, "16x8xf32", "8x16xf32 32x3xf32", _strided),
    _case("gather", GATHER, "7x16xf32 24xi32", "24xf32", lambda x, i: (x[i, 3],)),
    _case("mixed-types", MIXED_TYPES, "20xf32 20xi32", "20xf64 20xi1 20xi32", _mixed),
    _case("parallel", PARALLEL, "6x5x40xf32", "6x5x40xf32", lambda x: (x[:, :, ::-1],)),
    _case("row-sum", ROW_SUM, "5x100xf32", "5xf32 5xf32", lambda x: (x.sum(1), x.max(1))),
    _case("private-lanes", PRIVATE_LANES, "16x12xf32 12xf32", "16xf32", lambda x, b: (x @ b + 0.5,)),
    _case("fused-loop", FUSED_LOOP, "6x7xf32 7xf32", "6x7xf32", lambda x, c: (x + c,)),
]  # fmt: skip
