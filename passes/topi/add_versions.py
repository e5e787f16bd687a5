"""`topi-add-versions`: adds versions of kernels for certain sizes that make them much simpler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from xrelay.dialects.loop.versions import KernelVersion
from xrelay.dialects.relay.core.size_hints import SizeHint, batches, size_hints
from xrelay.dialects.relay.structure.call import names_in
from xrelay.dialects.shared.attribute_names import EXPANDED_FROM, PRIMITIVE, VERSION
from xrelay.dialects.shared.requirements import kernel_requirements_of
from xrelay.dialects.shared.types import shape_of
from xrelay.dialects.topi import ReadOp
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.named.block_products import MatmulBlocksOp
from xrelay.dialects.topi.named.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.topi.named.split_products import MatmulSplitOp
from xrelay.dialects.topi.specialize import specialized
from xrelay.errors import DimensionError
from xrelay.index_algebra.dim_expressions import substitute
from xrelay.index_algebra.dims import Dim, names_of, product
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.topi.inline_injective import TopiInlineInjectivePass, inline_injective

MAX_ROWS = 64
"""A version for more rows would not be faster than the kernel itself, whose tiles are then full."""

MATRIX = 2
"""The number of axes of a matrix."""


@dataclass(frozen=True)
class TopiAddVersionsPass(XRelayPass):
    """Adds versions of matrix products with a dynamic number of rows, for the typical number of rows or for 1 row.

    ```
    func.func private @k(%x: tensor<?x64xf32,        →    func.func private @k(…) …
        #relay.dims<n>>, …) …                             func.func private @k_n1(%x: tensor<1x64xf32>, …)
                                                              attributes {loop.version = {of = @k, sizes = {n = 1}, …}}
    ```

    A kernel computes rows in tiles, and fewer rows than a tile take the time of a whole tile: 1.7 to 2.9 times that of
    a kernel for one row. With versions, `scf-select-versions` lets the kernel call the version that fits the sizes of
    the call. A kernel gets at most two versions:

    - For the typical sizes in `relay.sizes`. A name in the number of rows without a typical size is 1.
    - For 1 row: all names in the number of rows are 1. It is omitted if `relay.sizes` excludes 1.

    Other names stay dynamic in both: the number of products, their depth and width. This makes the product of one query
    with 512 keys of 64 in 12 heads take 58 µs instead of 203 µs.

    The pass adds no version for more than 64 rows, and no version whose sizes the requirements of the kernel's ops
    exclude. If several names are in the number of rows, and no name of the kernel has a size hint, it is rare that all
    of them are 1, and compiling a version takes time. Then the only version is for 1 as the innermost extent, and only
    if this is also the first open extent of an input, such as the batch in rows of `time` x `batch`. The rows of a tile
    run along the innermost extent: a batch of 1 would leave one row of each tile, and in the version the rows run along
    `time`. A product that unpacks its weight also has a version for 1 row, into which the unpacking is inlined.
    It takes half of the time.

    A decoder, whose result is an input with more elements along one axis, mostly runs one position of each text. If
    rows are `batch` x `position`, the version is for 1 position, and its tiles of rows run along the batch. A
    product that unpacks its weight then has both versions.

    Other kernels get no versions, because convolutions, softmax and broadcasts run as fast as static ones. Versions for
    equal extents would not help: products of 64 to 384 rows by as many columns take the same time within 4 %.
    """

    name = "topi-add-versions"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Adds versions to the module."""
        functions = {each.sym_name.data: each for each in op.ops if isinstance(each, FuncOp)}
        seen: set[str] = set()
        for function in list(functions.values()):
            if PRIMITIVE in function.attributes:
                continue
            hints = size_hints(function)
            inputs = _Inputs(batches(function), _is_decoder(function))
            for call in walk_ops(function):
                name = call.callee.string_value() if isinstance(call, CallOp) else ""
                kernel = functions.get(name)
                if kernel is not None and PRIMITIVE in kernel.attributes and name not in seen:
                    seen.add(name)
                    for version in _versions(kernel, call, hints, functions, inputs):
                        op.body.block.add_op(version)
                        functions[version.sym_name.data] = version


def _versions(
    kernel: FuncOp,
    call: Operation,
    hints: Mapping[str, SizeHint],
    functions: Mapping[str, FuncOp],
    inputs: _Inputs,
) -> list[FuncOp]:
    """The useful versions of a kernel; `call` is a call of it."""
    products = [(op, rows) for op in kernel.body.block.ops if (rows := _rows(op, inputs))]
    rows = [each for _, each in products]
    names = names_in(kernel.function_type.inputs)
    unpacks = any(_unpacks(op) for op, _ in products)
    found: list[FuncOp] = []
    for sizes, reason in _candidates(names, rows, hints, inputs, unpacks=unpacks) if rows else ():
        try:
            if _is_excluded(call, sizes):
                continue
            counts = [product(substitute(dims, sizes)) for dims in rows]
            version = specialized(kernel, sizes, stay=[name for name in names if name not in sizes])
        except DimensionError:
            continue
        if unpacks and all(isinstance(count, int) for count in counts):
            inline_injective(version.body.block, TopiInlineInjectivePass.max_recompute)
        name = "_".join([kernel.sym_name.data, *(f"{name}{size}" for name, size in sizes.items())])
        numbers = [count for count in counts if isinstance(count, int)]
        count = max(numbers) if len(numbers) == len(counts) else counts[0]
        if name in functions or (isinstance(count, int) and not 0 < count <= MAX_ROWS):
            continue
        version.sym_name = StringAttr(name)
        text = f"{reason}: a product of {count} row{'s' if count != 1 else ''}"
        version.attributes[VERSION] = KernelVersion(kernel.sym_name.data, sizes, text).attribute()
        found.append(version)
    return found


class _Inputs(NamedTuple):
    """Facts about the inputs of a function."""

    batches: frozenset[str]
    """The first open extents."""
    is_decoder: bool
    """Whether an output is an input with more elements along one axis, such as a cache of keys."""


def _is_decoder(function: FuncOp) -> bool:
    """Whether an output equals the type of an input except for one open extent, which grows."""
    types = function.function_type.inputs.data, function.function_type.outputs.data
    inputs, outputs = ([shape_of(each) for each in side if isinstance(each, TensorType)] for side in types)
    pairs = ((before, after) for before in inputs for after in outputs if len(before) == len(after))
    return any(
        len(changed := [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]) == 1
        and names_of(changed[0][0])
        and names_of(changed[0][0]) < names_of(changed[0][1])
        for before, after in pairs
    )


def _is_excluded(call: Operation, sizes: Mapping[str, int]) -> bool:
    """Whether the requirements of a call exclude these sizes, so that its kernel never runs with them."""
    requirements = (each for row in kernel_requirements_of(call) for each in row.requirements)
    return any(each.names <= sizes.keys() and not each.holds(sizes) for each in requirements)


def _candidates(
    names: Sequence[str],
    rows: Sequence[Sequence[Dim]],
    hints: Mapping[str, SizeHint],
    inputs: _Inputs,
    *,
    unpacks: bool,
) -> Iterator[tuple[dict[str, int], str]]:
    """Yields the sizes for which a kernel of these names may have a version, with the reason.

    `unpacks` is whether it unpacks the weight of a product.
    """
    counting = {name for dims in rows for dim in dims for name in names_of(dim)}
    single = {name: 1 for name in names if name in counting}
    if hints.keys().isdisjoint(names):
        if len(single) == 1 or unpacks:
            yield single, "no typical size is given"
        elif len(inner := {str(dims[-1]) for dims in rows} & inputs.batches) == 1:
            yield dict.fromkeys(inner, 1), "a batch is often 1, and the rows of a tile then run along another extent"
            return
        steps = {name for dims in rows for name in names_of(dims[-1])}
        if inputs.is_decoder and len(steps) == 1 < len(single):
            yield dict.fromkeys(steps, 1), "a decoder mostly runs one position of each text"
        return
    usual = {name: hints[name].usual if name in hints else 1 for name in names if name in hints or name in counting}
    unknown = [name for name in single if name not in hints]
    yield usual, "typical sizes" + (f", and 1 for {', '.join(unknown)}, without a typical size" if unknown else "")
    if not single.items() <= usual.items() and all(hints[name].least <= 1 for name in counting & hints.keys()):
        yield single, "not typical, but faster than a whole tile"


def _unpacks(op: Operation) -> bool:
    """Whether a matrix product reads a weight that another compute of the kernel unpacks."""
    if op.attributes.get(EXPANDED_FROM) == StringAttr(MatmulBlocksOp.name):
        return True
    sources = [each.tensor.owner for each in op.walk() if isinstance(each, ReadOp)]
    computes = [each for each in sources if isinstance(each, ComputeOp) and not each.reduction]
    return any(isinstance(each, arith.ShRSIOp) for source in computes for each in source.body.walk())


def _rows(op: object, inputs: _Inputs) -> list[Dim]:
    """The extents that are the number of rows of a matrix product, if one has a name; else empty.

    A product of parts takes as long for 1 row as a version for 1 row, so only its stacks in a decoder count.
    """
    source = op.attributes.get(EXPANDED_FROM) if isinstance(op, ComputeOp) else None
    if not isinstance(op, ComputeOp) or not isinstance(source, StringAttr) or not op.reduction:
        return []
    is_stack = inputs.is_decoder and len(op.spatial) > MATRIX
    if source.data == MatmulBlocksOp.name:
        rows = list(op.spatial[:-1]) if op.element_types == [f32] else []
    elif source.data == MatmulOp.name or (source.data == MatmulSplitOp.name and is_stack):
        rows = list(op.spatial[:-1])
    elif source.data == BatchMatmulOp.name:
        rows = list(op.spatial[-2:-1])
    else:
        return []
    return rows if any(names_of(dim) for dim in rows) else []
