"""`NumericCheck`: every pass keeps what the program computes, seen on random inputs.

The module runs in the relay interpreter before and after each pass, on the same inputs. The first pass after which an
output differs is named in a `PassError`, with the largest difference. Where a module cannot be run any more (it has
left relay, an op has no numpy meaning) the check pauses; `unchecked` says for which passes and why.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from xrelay.dialects.relay.dims import AnyDim, Dim, DimExpr, Polynomial, Symbol
from xrelay.dialects.relay.dtypes import numpy_dtype
from xrelay.dialects.relay.types import shape_of
from xrelay.dialects.relay.weights import Array
from xrelay.errors import PassError, XRelayError
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument

DEFAULT_RTOL = 1e-5
OPEN_EXTENT = 3
"""The extent that stands for one that the program leaves open."""


class NumericCheck(PassInstrument):
    """See the module's docstring.

    Floats may differ by `rtol` of the value plus `rtol` of the output's largest value (0: not at all), other numbers
    not at all. `inputs` are those of `function`; without them they are random from `seed`.
    """

    def __init__(
        self,
        *,
        rtol: float = DEFAULT_RTOL,
        seed: int = 0,
        function: str = "main",
        inputs: Sequence[Array] | None = None,
    ):
        self._rtol, self._seed, self._function, self._inputs = rtol, seed, function, inputs
        self._arrays: list[Array] | None = None
        self._before: list[list[Array] | None] = []
        self._last: tuple[ModuleOp, list[Array]] | None = None
        self.checked: list[str] = []
        """The passes that were found to keep the results, in the order in which they ended."""
        self.unchecked: list[tuple[str, str]] = []
        """The passes that could not be checked, each with the reason."""

    def enter_pass_ctx(self) -> None:
        """Begin anew."""
        self._arrays, self._last, self._before = None, None, []
        self.checked, self.unchecked = [], []

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Run the module, unless it is what the pass before left."""
        if self._last is not None and self._last[0] is mod:
            self._before.append(self._last[1])
        else:
            self._before.append(self._run(mod, info))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Run the module again and compare; `PassError` naming the pass where an output differs."""
        before = self._before.pop()
        if before is None:
            return
        after = self._run(mod, info)
        if after is None:
            return
        if len(before) != len(after):
            raise PassError(f"[{info.name}] changes the number of results from {len(before)} to {len(after)}")
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            _compare(old, new, self._rtol, f"[{info.name}] changes result #{number} of @{self._function}")
        self.checked.append(info.name)
        self._last = (mod, after)

    def _run(self, mod: ModuleOp, info: PassInfo) -> list[Array] | None:
        """The results of the module; None, with the reason noted, where it cannot be run."""
        from xrelay.interpreters.relay import run_relay

        try:
            if self._arrays is None:
                self._arrays = list(self._inputs) if self._inputs is not None else self._random(mod)
            return run_relay(mod, [array.copy() for array in self._arrays], self._function)
        except XRelayError as error:
            self.unchecked.append((info.name, error.message))
            return None

    def _random(self, mod: ModuleOp) -> list[Array]:
        functions = [op for op in mod.body.block.ops if isinstance(op, FuncOp) and op.sym_name.data == self._function]
        rng = np.random.default_rng(self._seed)
        types = functions[0].function_type.inputs.data if functions else ()
        return [random_array(type_, rng) for type_ in types]


def random_array(type_: Attribute, rng: np.random.Generator) -> Array:
    """An array of a tensor type: standard normal floats, integers of magnitude 1 to 8, either boolean.

    Open extents are `OPEN_EXTENT`. Raises `PassError` for a type that is not that of a tensor.
    """
    if not isinstance(type_, TensorType):
        raise PassError(f"there are no random inputs of type {type_}", help="pass inputs")
    shape = tuple(_extent(dim) for dim in shape_of(type_))
    dtype = numpy_dtype(type_.element_type)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        signs = rng.choice([-1, 1], shape) if dtype.kind == "i" else 1
        return (rng.integers(1, 9, shape) * signs).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def _extent(dim: Dim) -> int:
    """An extent for a dimension that may be open; every name stands for `OPEN_EXTENT`."""
    if isinstance(dim, int):
        return dim
    known: Dim = OPEN_EXTENT if isinstance(dim, AnyDim) else dim.substitute(dict.fromkeys(_names(dim), OPEN_EXTENT))
    if not isinstance(known, int):
        raise PassError(f"there is no random input with the extent {dim}", help="pass inputs")
    return known


def _names(dim: DimExpr) -> list[str]:
    if not isinstance(dim, Polynomial):
        return []
    return [factor.name for monomial, _ in dim.terms for factor in monomial if isinstance(factor, Symbol)]


def _compare(old: Array, new: Array, rtol: float, what: str) -> None:
    """`PassError` where the arrays differ by more than rounding."""
    if old.shape != new.shape or old.dtype != new.dtype:
        raise PassError(f"{what} from {old.dtype}{list(old.shape)} to {new.dtype}{list(new.shape)}")
    if np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
        return
    left, right = old.astype(np.float64), new.astype(np.float64)
    finite = np.abs(left[np.isfinite(left)])
    scale = float(finite.max()) if finite.size else 0.0
    if rtol == 0 or old.dtype.kind in "biu" or not np.allclose(right, left, rtol, rtol * scale, equal_nan=True):
        with np.errstate(invalid="ignore"):
            difference = np.nan_to_num(np.abs(left - right), nan=np.inf)
        where = np.unravel_index(int(np.argmax(difference)), difference.shape)
        place = [int(index) for index in where]
        raise PassError(
            f"{what}: {old[where]} becomes {new[where]} at {place}, tolerance {rtol} of the largest value {scale:g}"
        )
