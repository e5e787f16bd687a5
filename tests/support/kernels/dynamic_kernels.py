"""The kernels of `loop_kernels` with dynamic extents, derived from their static texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import SSAValue

from support.kernels.loop_kernels import CONV, GEMM, POOL, SOFTMAX, SQUARES, KernelText
from xrelay.dialects.loop.extents import extents_of, index_arguments
from xrelay.dialects.shared.attribute_names import NUM_OUTPUTS
from xrelay.interpreters.scalar import numpy_dtype

_BUFFER = re.compile(r"memref<((?:\d+x)+)")


@dataclass(frozen=True)
class DynamicKernel:
    """A kernel whose numbers in `names` are replaced by `index` arguments of these names.

    `sizes` computes all extents from one or two chosen ones.
    """

    static: KernelText
    names: Mapping[int, str]
    relations: Mapping[str, tuple[str, int, int]]
    """Names computed from others: `p = h * 1 + 2` is `"p": ("h", 1, 2)`."""

    edits: Sequence[tuple[str, str]] = ()

    @property
    def name(self) -> str:
        return self.static.name

    @property
    def text(self) -> str:
        text = self.static.text
        for old, new in self.edits:
            assert old in text
            text = text.replace(old, new)
        head, body = text.split("attributes", 1)
        body = re.sub(r"memref\.alloc\(\) : (memref<[^>]*>)", self._alloc, body)
        words = "to|spatial|reduce|ordered|floordiv|mod|arith.constant"
        body = re.sub(rf"({words}) (\d+)(?! : i|\.| dense)", lambda m: f"{m[1]} {self._extent(int(m[2]))}", body)
        body = re.sub(r"arith.constant (%\w+) : index", r"arith.minsi \1, \1 : index", body)
        head = re.sub(r"memref<[^>]*>", self._argument, head)
        head = head[: head.rindex(")")] + "".join(f", %size_{name}: index" for name in self.names.values()) + ") "
        return _BUFFER.sub(self._open, f"{head}attributes{body}")

    def sizes(self, *chosen: int) -> dict[str, int]:
        """The extents, from values of the names that do not depend on others."""
        free = [name for name in self.names.values() if name not in self.relations]
        found = dict(zip(free, chosen, strict=True))
        for name, (of, factor, plus) in self.relations.items():
            found[name] = found[of] * factor + plus
        return {name: found[name] for name in self.names.values()}

    def _extent(self, number: int) -> str:
        return f"%size_{self.names[number]}" if number in self.names else str(number)

    def _dims(self, type: str) -> list[int]:
        found = _BUFFER.match(type)
        return [int(size) for size in found[1].split("x")[:-1]] if found is not None else []

    def _open(self, found: re.Match[str]) -> str:
        return "memref<" + "".join(f"{'?' if n in self.names else n}x" for n in self._dims(found[0]))

    def _alloc(self, found: re.Match[str]) -> str:
        sizes = ", ".join(f"%size_{self.names[size]}" for size in self._dims(found[1]) if size in self.names)
        return f"memref.alloc({sizes}) : {found[1]}"

    def _argument(self, found: re.Match[str]) -> str:
        order = list(self.names)
        numbers = ", ".join(str(order.index(size)) for size in self._dims(found[0]) if size in self.names)
        return f"{found[0]} {{loop.extents = array<i64: {numbers}>}}" if numbers else found[0]


def arguments_for(kernel: func.FuncOp, sizes: Sequence[int], seed: int = 3) -> list[NDArray[np.generic] | int]:
    """Small integers, whose sums are exact; outputs with values that no kernel computes; and the extents."""
    generator, names = np.random.default_rng(seed), index_arguments(kernel)
    known = dict(zip(names, sizes, strict=True))
    arrays: list[NDArray[np.generic] | int] = []
    for argument in kernel.body.block.args[: -len(names)]:
        shape = [known[e] if isinstance(e, SSAValue) else e for e in extents_of(argument)]
        dtype = numpy_dtype(SSAValue.get(argument, type=MemRefType).type.element_type)
        arrays.append(generator.integers(-4 if dtype.kind == "f" else 0, 5, shape).astype(dtype))
    count = output_count(kernel)
    outputs = [np.full_like(array, 77) for array in arrays[-count:]]
    return [*arrays[:-count], *outputs, *sizes]


def output_count(kernel: func.FuncOp) -> int:
    count = kernel.attributes.get(NUM_OUTPUTS)
    return count.value.data if isinstance(count, IntegerAttr) else 1


DYNAMIC_GEMM = DynamicKernel(GEMM, {7: "m", 5: "l", 6: "n"}, {})
DYNAMIC_ROWS = DynamicKernel(GEMM, {7: "m"}, {})
DYNAMIC_CONV = DynamicKernel(
    CONV,
    {6: "h", 7: "w", 8: "ph", 9: "pw"},
    {"ph": ("h", 1, 2), "pw": ("w", 1, 2)},
    (
        ("%seven = arith.constant 7 : index", "%seven = arith.addi %size_h, %one : index"),
        ("%eight = arith.constant 8 : index", "%eight = arith.addi %size_w, %one : index"),
    ),
)
DYNAMIC_SOFTMAX = DynamicKernel(SOFTMAX, {5: "rows", 9: "columns"}, {})
DYNAMIC_SQUARES = DynamicKernel(SQUARES, {6: "rows", 7: "columns"}, {})
DYNAMIC_POOL = DynamicKernel(POOL, {4: "w", 9: "iw"}, {"iw": ("w", 2, 1)})
DYNAMIC_KERNELS = (DYNAMIC_GEMM, DYNAMIC_ROWS, DYNAMIC_CONV, DYNAMIC_SOFTMAX, DYNAMIC_SQUARES, DYNAMIC_POOL)
