"""`NumericCheck` checks on random inputs that passes preserve the results of the program.

The module runs before and after each pass, on the same inputs, in the interpreter of its level: relay, topi or loop, so
that lowerings are checked too. Named dimensions get random sizes; if the program refuses them, others are drawn. A
`PassError` names the first pass after which an output differs, with the largest difference and the inputs. Exact passes
must preserve every bit, others may round or quantise (`numerics`).

If a module cannot be run (it is below loop, or an op has no numpy implementation), the check pauses; `unchecked` lists
the passes and the reasons. The next module that runs is compared with the last module that ran. A pass that is meant to
change results is not checked either; the passes after it are compared with its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.utils.hints import isa

from xrelay.dialects.loop.signature import input_arguments
from xrelay.dialects.relay.structure.weights import Array
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import shape_of
from xrelay.errors import InterpreterError, PassError, XRelayError
from xrelay.index_algebra.dims import Shape
from xrelay.interpreters.at_level import run_at_level
from xrelay.interpreters.loop.module import NamedSizes
from xrelay.passes.infra.module_level import module_level
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument, PassStack
from xrelay.passes.instruments.random_inputs import DRAWS, random_arrays


@dataclass(frozen=True)
class _Results:
    """The results of a module."""

    module: ModuleOp
    level: str
    arrays: Sequence[Array]


class NumericCheck(PassInstrument):
    """See the module's docstring.

    Floats may differ by `rtol` of the value plus `rtol` of the output's largest value; without `rtol`, by nothing after
    an exact pass and by 1e-5 after any other, including a user's. No other number may differ, except after a quantising
    pass, which may change integers by 4, floats by a twentieth, and their type. `inputs` are the inputs of `function`,
    by default random from `seed`. `function` defaults to `@main`, else to the only public function, else to the only
    function.
    """

    def __init__(
        self,
        *,
        rtol: float | None = None,
        seed: int = 0,
        function: str | None = None,
        inputs: Sequence[Array] | None = None,
    ):
        self._rtol, self._seed, self._function, self._own_inputs = rtol, seed, function, inputs
        self._inputs: Sequence[Array] | None = None
        self._name = ""
        self._open = PassStack[_Results | str]()
        """For each running pass, the results before it, or the reason why there are no results."""
        self._last: _Results | None = None
        self._left: ModuleOp | None = None
        self._since: list[PassInfo] = []
        self.checked: list[str] = []
        """The passes that preserved the results, in the order in which they ended."""
        self.unchecked: list[tuple[str, str]] = []
        """The passes that could not be checked, each with the reason."""

    @property
    def replay_flags(self) -> tuple[str, ...]:
        """`--check-numerics`, with the seed of the inputs."""
        return "--check-numerics", "--numerics-seed", str(self._seed)

    @property
    def unserializable(self) -> tuple[str, ...]:
        """The names of the arguments that were passed and have no flag."""
        given = {"rtol": self._rtol, "function": self._function, "inputs": self._own_inputs}
        return tuple(name for name, value in given.items() if value is not None)

    def enter_pass_ctx(self) -> None:
        """Resets the instrument."""
        self._open.clear()
        self._left = None
        self._forget()
        self.checked, self.unchecked = [], []

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Runs the module, unless it is the result of the previous pass."""
        if mod is not self._left:
            if not self._open:
                self._forget()
            found = self._run(mod)
            self._last, self._since = (found, []) if isinstance(found, _Results) else (None, [])
        unknown = "the module that the pass was given could not be run"
        self._open.push(info, self._last if self._last is not None else unknown)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Runs the module again and compares; raises `PassError` with the pass's name if an output differs."""
        before, after = self._open.pop(info), self._run(mod)
        self._left = mod
        if isinstance(after, str):
            self.unchecked.append((info.name, after))
            self._since.append(info)
            return
        changes = info.numerics.changes
        if changes is not None:
            before = changes
            self._open.fill(f"{info.name}, which ran in it, is to change results: {changes}")
        if isinstance(before, str):
            self.unchecked.append((info.name, before))
        else:
            self._compare(before, after, info)
            self.checked.append(info.name)
        self._last, self._since = after, []

    def _forget(self) -> None:
        """Drops the inputs and results, before an unrelated program."""
        self._inputs, self._last, self._since = None, None, []

    def _run(self, mod: ModuleOp) -> _Results | str:
        """Returns the results of the module, or the reason why it cannot be run."""
        try:
            level = module_level(mod)
            if self._inputs is not None:
                return self._run_on(self._inputs, mod, level)
            self._name = self._function if self._function is not None else _entry(mod)
            return self._first_run(mod, level)
        except XRelayError as error:
            return error.message
        except Exception as error:
            return f"the interpreter failed, {type(error).__name__}: {error}"

    def _run_on(self, inputs: Sequence[Array], mod: ModuleOp, level: str) -> _Results:
        return _Results(mod, level, run_at_level(level, mod, self._name, [array.copy() for array in inputs]))

    def _first_run(self, mod: ModuleOp, level: str) -> _Results:
        """Returns the results on the first inputs that the module accepts, and keeps these, or raises an error."""
        if self._own_inputs is not None:
            self._inputs = list(self._own_inputs)
            return self._run_on(self._inputs, mod, level)
        rows = _input_rows(next(op for op in _functions(mod) if op.sym_name.data == self._name))
        draws = DRAWS if any(not isinstance(dim, int) for shape, _ in rows for dim in shape) else 1
        rng = np.random.default_rng(self._seed)
        errors: list[XRelayError] = []
        for draw in range(draws):
            try:
                inputs = random_arrays(rows, rng, draw)
                found = self._run_on(inputs, mod, level)
            except XRelayError as error:
                errors.append(error)
            else:
                self._inputs = inputs
                return found
        raise errors[0]

    def _compare(self, before: _Results, after: _Results, info: PassInfo) -> None:
        """Raises `PassError` if results differ by more than the pass, and unchecked ones before it, may change them."""
        unchecked = [other for other in self._since if other.name != info.name]
        names = ", ".join(other.name for other in unchecked)
        others = f" or an unchecked pass before it ({names})" if unchecked else ""
        what = f"[{info.name}]{others} changes"
        old, new = before.arrays, after.arrays
        if len(old) != len(new):
            raise PassError(f"{what} the number of results from {len(old)} to {len(new)}")
        possible = [each.numerics for each in (info, *unchecked)]
        rtol, steps = max(each.rtol for each in possible), max(each.steps for each in possible)
        if self._rtol is not None:
            rtol, steps = self._rtol, 0
        levels = "" if before.level == after.level else f", {before.level} to {after.level}"
        for number, (left, right) in enumerate(zip(old, new, strict=True)):
            difference = describe_difference(left, right, rtol, steps)
            if difference is not None:
                where = f"result #{number} of @{self._name}{levels}"
                raise PassError(f"{what} {where} {difference}", help=f"the inputs were {self._inputs_text()}")

    def _inputs_text(self) -> str:
        shapes = ", ".join(f"{array.dtype}{list(array.shape)}" for array in self._inputs or ())
        return f"those given: {shapes}" if self._own_inputs is not None else f"random from seed {self._seed}: {shapes}"


def describe_difference(old: Array, new: Array, rtol: float, steps: int = 0) -> str | None:
    """Describes a difference greater than `rtol`, or than `steps` for integers; None if the arrays agree.

    If integers may differ, floats may have another type.
    """
    retyped = bool(steps) and _is_float(old) and _is_float(new)
    if old.shape != new.shape or (old.dtype != new.dtype and not retyped):
        return f"from {old.dtype}{list(old.shape)} to {new.dtype}{list(new.shape)}"
    if np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
        return None
    left, right = old.astype(np.float64), new.astype(np.float64)
    if steps and old.dtype.kind in "iu" and np.abs(left - right).max(initial=0.0) <= steps:
        return None
    finite = np.abs(left[np.isfinite(left)])
    scale = float(finite.max()) if finite.size else 0.0
    if rtol != 0 and old.dtype.kind not in "biu" and np.allclose(right, left, rtol, rtol * scale, equal_nan=True):
        return None
    with np.errstate(invalid="ignore"):
        difference = np.nan_to_num(np.abs(left - right), nan=np.inf)
    where = np.unravel_index(int(np.argmax(difference)), difference.shape)
    tolerance = f"tolerance {rtol} of the largest value {scale:g}" if rtol else "tolerance 0"
    return f"from {old[where]} to {new[where]} at {[int(index) for index in where]}, {tolerance}"


def _functions(mod: ModuleOp) -> list[FuncOp]:
    return [op for op in mod.body.block.ops if isinstance(op, FuncOp) and op.body.blocks]


def _input_rows(function: FuncOp) -> list[tuple[Shape, np.dtype[Any]]]:
    """Returns shape and dtype of each input; at the loop level, shapes use the names of the function's buffers."""
    rows: list[tuple[Shape, np.dtype[Any]]] = []
    for argument, buffer in zip(input_arguments(function), NamedSizes(function).shapes, strict=False):
        type = argument.type
        if not isa(type, TensorType) and not isa(type, MemRefType):
            raise PassError(f"there are no random inputs of type {type}", help="pass inputs")
        shape = shape_of(type) if isa(type, TensorType) else buffer
        rows.append((shape, numpy_dtype(type.element_type)))
    return rows


def _entry(mod: ModuleOp) -> str:
    """Returns the function to run: `main`, else the only public function, else the only function."""
    functions = _functions(mod)
    if any(op.sym_name.data == "main" for op in functions):
        return "main"
    public = [op for op in functions if op.sym_visibility is None or op.sym_visibility.data != "private"]
    entries = public or functions
    if len(entries) != 1:
        names = ", ".join(f"@{op.sym_name.data}" for op in functions)
        raise InterpreterError(f"the module has no function @main; it has {names or 'none'}")
    return entries[0].sym_name.data


def _is_float(array: Array) -> bool:
    return array.dtype.kind == "f" or array.dtype.name == "bfloat16"
