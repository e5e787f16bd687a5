"""Tensorized nests of random sizes equal numpy, with instructions on tiles and without; those of bytes bit by bit."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.extreme_integers import extreme_integers as random
from support.native_kernels import NativeKernel

from xrelay.target import Target

SCHEDULE = (
    "loop-contract{loop=t lanes=o}",
    "loop-unroll{loop=i}",
    "loop-unroll{loop=v}",
    "loop-tensorize{loop=k instruction=tdpbusd}",
    "loop-lower-blocks",
)
INIT = """ init {
              %zero = arith.constant 0 : i32
              loop.store %zero, %Y[%vi, %vj] : {sums}
            }"""
KERNEL = """
func.func @k(%X: {data}, %W: {weight}, %Y: {sums}) attributes {{loop.kernel, loop.num_outputs = 1 : i64}} {{
  loop.for "k" %k to {depth} {{
    loop.for "i" %i to {rows} {{
      loop.for "v" %v to {vectors} {{
        loop.for "o" %o to 16 {{
          loop.for "t" %t to 4 {{
            loop.block "dot" (%vi : spatial {rows} = %i, %vj : spatial {columns} = %v * 16 + %o,
                              %vk : reduce {depth} = %k, %vt : reduce 4 = %t) reads(%X, %W) writes(%Y){init} {{
              %acc = loop.load %Y[%vi, %vj] : {sums}
              %x = loop.load %X[%vi, %vk * 4 + %vt + {skipped}] : {data}
              %w = loop.load %W[%vj floordiv 16, %vk, %vj mod 16, %vt] : {weight}
              %xe = arith.extui %x : i8 to i32
              %we = arith.extsi %w : i8 to i32
              %p = arith.muli %xe, %we : i32
              %s = arith.addi %acc, %p : i32
              loop.store %s, %Y[%vi, %vj] : {sums}
            }}
          }}
        }}
      }}
    }}
  }}
  func.return
}}
"""
SHAPES = [(rows, vectors) for rows in range(16, 33) for vectors in range(2, 7) if -(-rows // 16) * (vectors + 1) < 8]
"""Rows and vectors of columns whose accumulators fit in tiles."""


@pytest.mark.parametrize("tiles", [False, True])
@settings(max_examples=examples(10), deadline=None)
@given(
    shape=st.sampled_from(SHAPES),
    depth=st.sampled_from([4, 12, 16, 24, 40]),
    skipped=st.integers(0, 5),
    from_zero=st.booleans(),
)
def test_tensorized_nests(tiles: bool, shape: tuple[int, int], depth: int, skipped: int, from_zero: bool) -> None:
    rows, vectors = shape
    host = Target.host()
    if tiles and (host.tile_product("i32") is None or host.lanes() < 16):
        pytest.skip("this process may not use AMX's tiles with AVX-512")
    pitch, columns = 4 * depth + skipped + 3, 16 * vectors
    sums = f"memref<{rows}x{columns}xi32>"
    text = KERNEL.format(
        data=f"memref<{rows}x{pitch}xui8>",
        weight=f"memref<{vectors}x{depth}x16x4xi8>",
        sums=sums,
        init=INIT.replace("{sums}", sums) if from_zero else "",
        depth=depth,
        rows=rows,
        vectors=vectors,
        columns=columns,
        skipped=skipped,
    )
    to_scf = "convert-loop-to-scf{tiles=tdpbusd}" if tiles else "convert-loop-to-scf"
    x, w = random((rows, pitch), "uint8", 1), random((vectors, depth, 16, 4), "int8", 2)
    y = random((rows, columns), "int32", 3)
    used = x[:, skipped : skipped + 4 * depth].astype(np.int64)
    product = used @ w.transpose(1, 3, 0, 2).reshape(4 * depth, columns).astype(np.int64)
    expected = (product if from_zero else product + y).astype(np.int32)
    NativeKernel(text, passes=(*SCHEDULE, to_scf))(x, w, y)
    np.testing.assert_array_equal(y, expected)


PARTS_SCHEDULE = ("loop-contract{loop=t lanes=o}", "loop-unroll{loop=p}", "loop-unroll{loop=i}", "loop-unroll{loop=v}")
PARTS = """
func.func @k(%X: {data}, %W: {weight}, %Y: {sums}) attributes {{loop.kernel, loop.num_outputs = 1 : i64}} {{
  loop.for "k" %k to {depth} {{
    loop.for "p" %p to 3 {{
      loop.for "i" %i to {rows} {{
        loop.for "v" %v to {vectors} {{
          loop.for "o" %o to 16 {{
            loop.for "t" %t to 2 {{
              loop.block "dot" (%vi : spatial {rows} = %i, %vj : spatial {columns} = %v * 16 + %o, %vp : reduce 3 = %p,
                                %vk : reduce {depth} = %k, %vt : reduce 2 = %t) reads(%X, %W) writes(%Y) init {{
                %zero = arith.constant 0.0 : f32
                loop.store %zero, %Y[%vi, %vj] : {sums}
              }} {{
                %acc = loop.load %Y[%vi, %vj] : {sums}
                %x = loop.load %X[%vp floordiv 2, %vi, %vk * 2 + %vt] : {data}
                %w = loop.load %W[(2 - %vp) floordiv 2, %vj floordiv 16, %vk, %vj mod 16, %vt] : {weight}
                %xe = arith.extf %x : bf16 to f32
                %we = arith.extf %w : bf16 to f32
                %q = arith.mulf %xe, %we : f32
                %s = arith.addf %acc, %q : f32
                loop.store %s, %Y[%vi, %vj] : {sums}
              }}
            }}
          }}
        }}
      }}
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize("tiles", [False, True])
@settings(max_examples=examples(6), deadline=None)
@given(rows=st.integers(16, 40), vectors=st.integers(1, 3), depth=st.sampled_from([4, 12, 16, 40]))
def test_products_of_parts(tiles: bool, rows: int, vectors: int, depth: int) -> None:
    host = Target.host()
    if tiles and (host.tile_product("f32") is None or host.lanes() < 16):
        pytest.skip("this process may not use AMX's tiles of bf16 with AVX-512")
    row_tiles, columns = -(-rows // 16), 16 * vectors
    assume(row_tiles * (vectors + 1) + vectors <= 8)
    text = PARTS.format(
        data=f"memref<2x{rows}x{2 * depth}xbf16>",
        weight=f"memref<2x{vectors}x{depth}x16x2xbf16>",
        sums=f"memref<{rows}x{columns}xf32>",
        depth=depth,
        rows=rows,
        vectors=vectors,
        columns=columns,
    )
    to_scf = "convert-loop-to-scf{tiles=tdpbf16ps}" if tiles else "convert-loop-to-scf"
    tensorize = "loop-tensorize{loop=k instruction=tdpbf16ps}"
    generator = np.random.default_rng(rows)
    x = generator.standard_normal((2, rows, 2 * depth)).astype(ml_dtypes.bfloat16)
    w = generator.standard_normal((2, vectors, depth, 16, 2)).astype(ml_dtypes.bfloat16)
    y = np.zeros((rows, columns), np.float32)
    NativeKernel(text, passes=(*PARTS_SCHEDULE, tensorize, "loop-lower-blocks", to_scf))(x, w, y)
    matrices = w.astype(np.float64).transpose(0, 2, 4, 1, 3).reshape(2, 2 * depth, columns)
    data = x.astype(np.float64)
    expected = data[0] @ matrices[1] + data[0] @ matrices[0] + data[1] @ matrices[0]
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
