"""Helpers of the parameter optimisations: parameters by name, and passes on functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import ModuleOp

from xrelay.api.arrays import arrays_by_name
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.structure.weights import Array
from xrelay.errors import InputError, did_you_mean
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.module import IRModule
from xrelay.relay.passes.sparse.sparse_weights import Parameters, free_functions, to_blocks

LayerT = TypeVar("LayerT", bound=RelayOp)


Params = MutableMapping[str, object]
"""Arrays by parameter name."""


class SparseAnalysisResult(NamedTuple):
    """The names of the weights that become sparse, and the concatenated shapes of the three arrays of each."""

    weight_name: list[str]
    weight_shape: list[list[int]]

    @property
    def options(self) -> tuple[list[str], list[str]]:
        """The names and the shapes as options of a pass."""
        return self.weight_name, ["x".join(map(str, shape)) for shape in self.weight_shape]


def module_of(func: Expr) -> IRModule:
    """Returns a module with a copy of a function as @main, with types inferred."""
    module = IRModule.from_expr(func)
    infer_types(module)
    return module


def rewritten(func: Expr, rewrite: Callable[[ModuleOp], object]) -> Function:
    """Applies `rewrite` to a copy of a function; returns the result."""
    module = module_of(func)
    rewrite(module)
    infer_types(module)
    return module["main"]


def weights_of(func: Expr, kind: type[LayerT]) -> Iterator[tuple[str, list[LayerT]]]:
    """Yields the names of parameters that are weights of layers of a kind, with these layers, in program order."""
    for function in free_functions(module_of(func)):
        parameters, layers = Parameters(function), dict[str, list[LayerT]]()
        for op in walk_ops(function):
            name = parameters.name_of(op.operands[1]) if isinstance(op, kind) else None
            if isinstance(op, kind) and name is not None:
                layers.setdefault(name, []).append(op)
        yield from layers.items()


def array_of(params: Params, name: str) -> Array:
    """Returns the array of a parameter. Raises `InputError` if `params` lacks it."""
    if name not in params:
        hint = did_you_mean(name, list(params), f"params has: {', '.join(params)}")
        raise InputError(f"params has no array for the weight {name!r}", help=hint)
    return arrays_by_name({name: params[name]})[name]


def add_sparse_arrays(params: Params, name: str, arrays: tuple[Array, Array, Array]) -> list[int]:
    """Adds the arrays of a sparse weight to the parameters; returns their concatenated shapes."""
    for part, array in zip(("data", "indices", "indptr"), arrays, strict=True):
        params[f"{name}.{part}"] = array
    return [extent for array in arrays for extent in array.shape]


def without(params: Params, names: Sequence[str], function: Function) -> Params:
    """Removes the parameters in `names` that a function does not have from `params`; returns it."""
    left = {param.name for param in function.params}
    for name in names:
        if name not in left:
            del params[name]
    return params


def blocks_of(name: str, matrix: Array, block_size: tuple[int, int]) -> tuple[Array, Array, Array]:
    """Returns the BSR arrays of a weight. Raises `InputError` if blocks do not divide it."""
    arrays = to_blocks(matrix, block_size)
    if arrays is None:
        high, wide = block_size
        rows, columns = matrix.shape
        raise InputError(
            f"blocks of {high} by {wide} do not divide the weight {name!r} of {rows} by {columns} elements"
        )
    return arrays
