"""The tiles of kernels stay in registers: arithmetic of full vectors, and no spills in inner loops.

A CPU without this instruction multiplies and adds vectors; `llvm.fma` would become a call per lane there.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.native_kernels import host_ir
from xdsl.dialects.builtin import ModuleOp

from xrelay import relay
from xrelay.api.request import chosen_target
from xrelay.api.stage_dump import NativePiece
from xrelay.api.versions.recipe import Recipe
from xrelay.arguments import MAX_OPT_LEVEL
from xrelay.runtime.object_code.llvm_compiler import assembly

KERNELS = Path(__file__).parents[3] / "benchmarks" / "kernels"
PASSES = ("loop-apply-schedules", "loop-lower-blocks", "loop-plan-memory", "convert-loop-to-scf")
LABEL = re.compile(r"^(\.L\w+):")
SPILL = re.compile(r"-?\d*\(%rsp\)")
"""A place on the stack at a constant offset; buffers on the stack are accessed with an index."""
MASKED = re.compile(r"%k\d|vmaskmov")
"""An instruction on some lanes of a vector."""
ARITHMETIC = re.compile(r"\bv(?:add|sub|mul|max)[ps]s\b")
"""Arithmetic of vectors or single numbers of f32."""
ADDRESS = re.compile(r"\t(?:imul|cmov)")
"""An instruction for the address of a row, or for the number of the next panel."""
BRANCH_BACK = re.compile(r"^\s+j\w+\s+(\.L\w+)")


def innermost_loops(text: str) -> list[list[str]]:
    """The lines from a label to its backward branch, for loops without inner loops."""
    lines = text.splitlines()
    labels = {match[1]: number for number, line in enumerate(lines) if (match := LABEL.match(line))}
    loops: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        if (match := BRANCH_BACK.match(line)) and labels.get(match[1], number) < number:
            loops.append((labels[match[1]], number))
    inner = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    return [lines[first : last + 1] for first, last in inner]


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
@pytest.mark.parametrize(("kernel", "accumulators"), [("gemm_6x64", 24), ("conv3x3_nchw16c", 28)])
def test_register_tile_has_no_spills(kernel: str, accumulators: int):
    source = (KERNELS / f"{kernel}.mlir").read_text(encoding="utf-8")
    text = assembly(host_ir(source, PASSES), cpu="skylake-avx512", features="")
    loops = [loop for loop in innermost_loops(text) if any("vfmadd" in line for line in loop)]
    assert loops, "callers may hold the kernel inlined, but there is one of its own"
    for loop in loops:
        assert sum("vfmadd" in line and "zmm" in line for line in loop) == accumulators
        assert not any("zmm" in line and "(%rsp)" in line for line in loop)


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")
def test_products_on_a_cpu_without_fma_are_no_calls():
    source = (KERNELS / "gemm_6x64.mlir").read_text(encoding="utf-8")
    text = assembly(host_ir(source, PASSES), cpu="x86-64", features="")
    assert "fmaf" not in text
    assert "mulps" in text
    assert "addps" in text


def weight(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def convolutions() -> relay.Function:
    """A first layer, a 3x3, a 1x1, a depthwise and a strided convolution."""
    x = relay.var("x", shape=(1, 3, 56, 56))
    y = relay.nn.conv2d(x, weight(64, 3, 7, 7), padding=(3, 3), strides=(2, 2))
    y = relay.nn.relu(relay.nn.conv2d(y, weight(64, 64, 3, 3), padding=(1, 1)))
    y = relay.nn.relu(relay.nn.conv2d(y, weight(128, 64, 1, 1)))
    y = relay.nn.relu(relay.nn.conv2d(y, weight(128, 1, 3, 3), padding=(1, 1), groups=128))
    return relay.Function([x], relay.nn.conv2d(y, weight(64, 128, 3, 3), padding=(1, 1), strides=(2, 2)))


def attention() -> relay.Function:
    """Products of a constant and of two tensors, a softmax, and a product with one row."""
    x, y = relay.var("x", shape=(128, 256)), relay.var("y", shape=(4, 64, 128))
    heads = relay.transpose(relay.reshape(relay.nn.dense(x, weight(256, 256)), (128, 4, 64)), (1, 0, 2))
    scores = relay.nn.softmax(relay.nn.batch_matmul(heads, y, transpose_b=False))
    row = relay.strided_slice(scores, begin=[0, 0, 0], end=[1, 1, 128])
    return relay.Function([x, y], relay.Tuple([scores, relay.nn.dense(relay.reshape(row, (1, 128)), weight(64, 128))]))


def fused_attention() -> relay.Function:
    """Attention whose scores stay in the cache: two products and a softmax in one kernel."""
    queries, keys, values = (relay.var(name, shape=(4, 64, 64)) for name in ("q", "k", "v"))
    scores = relay.nn.softmax(relay.nn.batch_matmul(queries, keys) * relay.const(np.float32(0.125)))
    return relay.Function([queries, keys, values], relay.nn.batch_matmul(scores, values, transpose_b=False))


def layer_norm() -> relay.Function:
    """Rows that are so long that LLVM keeps the loop of each stage."""
    x = relay.var("x", shape=(4, 8192))
    return relay.Function([x], relay.nn.layer_norm(x, weight(8192), weight(8192)))


def softmax() -> relay.Function:
    """Rows that are so long that LLVM keeps the loop of each stage."""
    x = relay.var("x", shape=(4, 8192))
    return relay.Function([x], relay.nn.softmax(x))


def product_of_open_sizes() -> relay.Function:
    """A product whose sizes are all dynamic: full tiles, and partial ones with masks."""
    x, y = relay.var("x", shape=("m", "k")), relay.var("y", shape=("k", "n"))
    return relay.Function([x, y], relay.nn.matmul(x, y))


TERMS = (128, 192, 256, 320)


def products_of_parts() -> relay.Function:
    """Products of bf16 parts. Three share a kernel with the numbers of terms and columns as arguments."""
    inputs = [relay.var(f"x{terms}", shape=(48, terms)) for terms in TERMS]
    columns = (96, 192, 256, 320)
    products = [relay.nn.dense(x, weight(count, terms)) for x, count, terms in zip(inputs, columns, TERMS, strict=True)]
    return relay.Function(inputs, relay.Tuple(products))


def convolutions_of_parts() -> relay.Function:
    """Convolutions of bf16 parts. Some share a kernel with the numbers of channels as arguments."""
    inputs = [relay.var(f"x{channels}", shape=(1, channels, 14, 14)) for channels in TERMS]
    results = [relay.nn.conv2d(x, weight(n + 64, n, 3, 3), padding=(1, 1)) for x, n in zip(inputs, TERMS, strict=True)]
    return relay.Function(inputs, relay.Tuple(results))


def convolutions_of_sizes() -> relay.Function:
    """Convolutions of f32 that share a kernel with the numbers of channels as arguments, and a strided one."""
    inputs = [relay.var(f"x{channels}", shape=(1, channels, 7, 7)) for channels in TERMS]
    results = [relay.nn.conv2d(x, weight(n + 64, n, 3, 3), padding=(1, 1)) for x, n in zip(inputs, TERMS, strict=True)]
    image = relay.var("image", shape=(1, 128, 28, 28))
    strided = relay.nn.conv2d(image, weight(160, 128, 3, 3), padding=(1, 1), strides=(2, 2))
    return relay.Function([*inputs, image], relay.Tuple([*results, strided]))


class Assembly:
    """Receives the assembly of a program; printing all its stages, as `StageDump` does, takes a sixth of the time."""

    def __init__(self) -> None:
        self.text = ""

    def receive(self, number: int, name: str, module: ModuleOp) -> None: ...

    def receive_native(self, number: int, pieces: Sequence[NativePiece]) -> None:
        self.text = "\n".join(piece.listing.text for piece in pieces)

    def finish_stages(self) -> None: ...

    def finish(self, timing: str) -> None: ...

    def for_function(self, number: int) -> Assembly:
        raise AssertionError("the programs return no functions")


def compiled_functions(program: relay.Function, cpu: str, threads: int, *, exact: bool = False) -> list[str]:
    """The functions in the assembly for a CPU. Labels are unique in a function only."""
    module, target = relay.Module.from_expr(program), chosen_target(f"cpu -mcpu={cpu}", threads)
    Recipe(module, target, MAX_OPT_LEVEL, {}, exact=exact, cache=False).build(receiver=(assembly := Assembly()))
    return re.split(r"^(?=\w+:)", assembly.text, flags=re.MULTILINE)


def loops_with_products(program: relay.Function, cpu: str) -> list[list[str]]:
    """The innermost loops with fused multiply-adds in the code for a CPU."""
    return [loop for loop in loops_of(program, cpu) if any("vfmadd" in line for line in loop)]


def loops_of(program: relay.Function, cpu: str) -> list[list[str]]:
    """The innermost loops in the code for a CPU."""
    return [loop for function in compiled_functions(program, cpu, 1) for loop in innermost_loops(function)]


def spills(loop: list[str], vector: str) -> list[str]:
    """The lines of a loop that access a vector on the stack."""
    return [line for line in loop if vector in line and SPILL.search(line)]


VECTORS = [("haswell", "ymm"), ("skylake-avx512", "zmm"), ("sapphirerapids", "zmm"), ("znver5", "zmm")]


@pytest.mark.parametrize("program", [convolutions, attention, fused_attention])
@pytest.mark.parametrize(("cpu", "vector"), VECTORS)
def test_scheduled_kernels_have_no_spills(program: Callable[[], relay.Function], cpu: str, vector: str):
    loops = loops_with_products(program(), cpu)
    assert len(loops) >= 4
    for loop in loops:
        assert all(vector in line for line in loop if "vfmadd" in line)
        assert not spills(loop, vector)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("cpu", "vector"), VECTORS[::2])
def test_tiles_of_convolutions_compute_no_addresses(cpu: str, vector: str, threads: int):
    """Terms of an address that a loop does not change are not computed in it."""
    functions = compiled_functions(convolutions_of_sizes(), cpu, threads, exact=True)
    loops = [loop for function in functions for loop in innermost_loops(function)]
    tiles = [loop for loop in loops if any("vfmadd" in line for line in loop)]
    assert len(tiles) >= 3
    for loop in tiles:
        assert not spills(loop, vector)
        assert not any(ADDRESS.search(line) for line in loop)


@pytest.mark.parametrize("program", [layer_norm, softmax])
@pytest.mark.parametrize(("cpu", "vector"), VECTORS)
def test_stages_of_rows_fill_vectors(program: Callable[[], relay.Function], cpu: str, vector: str):
    loops = loops_of(program(), cpu)
    stages = [loop for loop in loops if any(ARITHMETIC.search(line) for line in loop)]
    assert len(stages) >= 3
    for loop in stages:
        assert all(vector in line for line in loop if ARITHMETIC.search(line))
        assert not spills(loop, vector)


@pytest.mark.parametrize(("cpu", "vector", "sums"), [(*VECTORS[0], 12), *((*each, 26) for each in VECTORS[1:])])
def test_full_tiles_of_open_sizes_have_no_spills(cpu: str, vector: str, sums: int):
    loops = loops_with_products(product_of_open_sizes(), cpu)
    full = [loop for loop in loops if not any(MASKED.search(line) for line in loop)]
    assert max(sum("vfmadd" in line for line in loop) for loop in full) == sums
    for loop in full:
        assert not spills(loop, vector)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", [products_of_parts, convolutions_of_parts])
def test_kernels_of_several_sizes_compute_on_tiles(program: Callable[[], relay.Function], threads: int):
    """With two threads, the loops around tiles are fused, and the guard of a partial tile would leave vectors."""
    functions = compiled_functions(program(), "sapphirerapids -mattr=+amx-tile,+amx-bf16", threads)
    assert not any("vfmadd" in function for function in functions)
    kernels = [function for function in functions if "tdpbf16ps" in function]
    assert 0 < len(kernels) < len(TERMS), "some products have one kernel"
    for kernel in kernels:
        loops = [loop for loop in innermost_loops(kernel) if any("tdpbf16ps" in line for line in loop)]
        assert loops
        for loop in loops:
            assert not any("tilestored" in line or SPILL.search(line) for line in loop if "tile" in line)
