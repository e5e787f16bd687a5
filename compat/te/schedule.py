"""Schedules: how the computes of some tensors are executed, stage by stage.

    s = te.create_schedule(C.op)
    i, j = s[C].op.axis
    io, ii = s[C].split(j, factor=16)
    s[C].vectorize(ii)
    s[C].parallel(i)

A schedule records steps. `xrelay.lower` translates them to a `#loop.schedule`, whose primitives check legality.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xrelay.errors import ScheduleError, did_you_mean, with_article
from xrelay.html import html_table
from xrelay.te.expr import IterVar
from xrelay.te.tensor import ComputeOp, Operation, PlaceholderOp, Tensor

LOCAL = "local"
"""The memory of tiles: registers and stack."""


@dataclass(frozen=True)
class Step:
    """A step on a stage: the axes it consumes, the axes it produces, and its factor."""

    kind: str
    taken: tuple[IterVar, ...]
    made: tuple[IterVar, ...] = ()
    factor: int = 0

    def applied(self, leaves: Sequence[IterVar]) -> list[IterVar]:
        """Returns the axes of a stage after the step; `leaves` are those before."""
        new = list(leaves)
        if self.kind == "reorder":
            for place, axis in zip(sorted(map(new.index, self.taken)), self.taken, strict=True):
                new[place] = axis
        elif self.made:
            at = new.index(self.taken[0])
            new[at : at + len(self.taken)] = self.made
        return new


class CacheOp(Operation):
    """The copy of another compute that `cache_write` creates, with its own buffer."""

    def __init__(self, of: Operation, scope: str):
        axis = [IterVar(f"{one.name}.c", one.extent) for one in of.axis]
        reduce_axis = [IterVar(one.name, one.extent, is_reduction=True) for one in of.reduce_axis]
        super().__init__(f"{of.name}.{scope}", axis, reduce_axis)
        self.of, self.scope = of, scope
        self.tensor = Tensor(of.tensor.shape, of.tensor.dtype, self)


class Stage:
    """An op of a schedule, with the axes of its loops, outermost first, in `leaf_iter_vars`."""

    def __init__(self, op: Operation, *, is_output: bool):
        self.op, self.is_output = op, is_output
        self.leaf_iter_vars: list[IterVar] = [*op.axis, *op.reduce_axis]
        self.steps: list[Step] = []
        self.is_inlined = False
        self.attached: tuple[Stage, IterVar] | None = None

    def split(self, parent: IterVar, factor: int | None = None, nparts: int | None = None) -> tuple[IterVar, IterVar]:
        """Splits an axis into two: the inner one has `factor` iterations, or the outer one `nparts`."""
        self._check(parent)
        if (factor is None) == (nparts is None):
            raise self._error(f"split of {parent.name!r}", "pass factor or nparts")
        given = factor if factor is not None else nparts
        if not isinstance(given, int) or given < 1:
            raise self._error(f"split of {parent.name!r} by {given!r}", "factors are positive integers")
        inner_extent = given if factor is not None else -(-parent.extent // given)
        inner_extent = max(1, inner_extent)
        outer = IterVar(f"{parent.name}.outer", -(-parent.extent // inner_extent), is_reduction=parent.is_reduction)
        inner = IterVar(f"{parent.name}.inner", inner_extent, is_reduction=parent.is_reduction)
        self._record(Step("split", (parent,), (outer, inner), inner_extent))
        return outer, inner

    def fuse(self, *args: IterVar) -> IterVar:
        """Fuses adjacent axes, outermost first, into one."""
        self._check(*args)
        if not args:
            raise self._error("fuse needs axes", "pass adjacent axes")
        at = self.leaf_iter_vars.index(args[0])
        if tuple(self.leaf_iter_vars[at : at + len(args)]) != args:
            names = ", ".join(axis.name for axis in args)
            raise self._error(f"fuse of {names}, which are not adjacent in this order", "reorder them first")
        extent = 1
        for axis in args:
            extent *= axis.extent
        fused = IterVar(".".join(axis.name for axis in args) + ".fused", extent, is_reduction=args[0].is_reduction)
        self._record(Step("fuse", args, (fused,)))
        return fused

    def reorder(self, *args: IterVar) -> None:
        """Puts axes into this order; the other axes keep their positions."""
        self._check(*args)
        if len(set(args)) != len(args):
            raise self._error("reorder names an axis twice", "name each axis once")
        self._record(Step("reorder", args))

    def tile(
        self, x_parent: IterVar, y_parent: IterVar, x_factor: int, y_factor: int
    ) -> tuple[IterVar, IterVar, IterVar, IterVar]:
        """Splits two axes and moves both outer axes before both inner ones."""
        x_outer, x_inner = self.split(x_parent, x_factor)
        y_outer, y_inner = self.split(y_parent, y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    def vectorize(self, var: IterVar) -> None:
        """Maps the iterations of an axis to vector lanes."""
        self._mark("vectorize", var)

    def parallel(self, var: IterVar) -> None:
        """Runs the iterations of an axis on several threads."""
        self._mark("parallel", var)

    def unroll(self, var: IterVar) -> None:
        """Unrolls an axis."""
        self._mark("unroll", var)

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Computes the part that each iteration of the axis `scope` of `parent` needs, inside that axis."""
        parent._check(scope)
        if self.is_output or parent is self:
            raise self._error("an output cannot be computed at another stage", "name a stage that another stage reads")
        self.attached, self.is_inlined = (parent, scope), False

    def compute_inline(self) -> None:
        """Inlines the compute into its readers."""
        if self.is_output:
            raise self._error("an output cannot be inlined", "inline stages that other stages read")
        if self.op.reduce_axis:
            raise self._error("a reduction cannot be inlined", "compute it at an axis: compute_at")
        if isinstance(self.op, CacheOp) or self.steps:
            raise self._error("it has a schedule already", "inline it before scheduling it")
        self.is_inlined, self.attached = True, None

    def compute_root(self) -> None:
        """Computes the whole tensor before its readers, which is the default."""
        self.is_inlined, self.attached = False, None

    def __getattr__(self, name: str) -> Any:
        """Raises `NoPrimitiveError`, with a reason for primitives that TVM has but xrelay lacks."""
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in _ABSENT:
            hint = did_you_mean(name, [one for one in vars(Stage) if not one.startswith("_")], "see docs/python-api.md")
            raise NoPrimitiveError(f"stages have no {name!r}", help=hint)
        reason, hint = _ABSENT[name]
        raise NoPrimitiveError(f"stage {self.op.name!r} cannot {name}: {reason}", help=hint)

    @property
    def place(self) -> str:
        """Where the stage is computed, as a text."""
        if isinstance(self.op, PlaceholderOp):
            return "input"
        if self.attached is not None:
            return f"in {self.attached[1].name} of {self.attached[0].op.name}"
        return "inlined" if self.is_inlined else "output" if self.is_output else "before its readers"

    @property
    def loops(self) -> str:
        """The names and extents of the loops, outermost first; empty if the stage has none of its own."""
        has_none = self.is_inlined or isinstance(self.op, PlaceholderOp)
        return "" if has_none else ", ".join(f"{axis.name} to {axis.extent}" for axis in self.leaf_iter_vars)

    @property
    def record(self) -> str:
        """The steps in order, such as `split j by 16`."""
        texts = (f"{step.kind} {', '.join(axis.name for axis in step.taken)}" for step in self.steps)
        factors = (f" by {step.factor}" if step.factor else "" for step in self.steps)
        return "; ".join(text + factor for text, factor in zip(texts, factors, strict=True))

    def _mark(self, kind: str, var: IterVar) -> None:
        self._check(var)
        self.steps.append(Step(kind, (var,)))

    def _check(self, *axes: object) -> None:
        names = ", ".join(axis.name for axis in self.leaf_iter_vars)
        for axis in axes:
            if not isinstance(axis, IterVar):
                raise self._error(f"{with_article(type(axis).__name__)} is not an axis", f"its axes are {names}")
            if axis not in self.leaf_iter_vars:
                raise self._error(f"{axis.name!r} is not one of its axes", f"they are {names}")

    def _record(self, step: Step) -> None:
        """Records a step that changes the axes."""
        self.leaf_iter_vars = step.applied(self.leaf_iter_vars)
        self.steps.append(step)

    def _error(self, message: str, help: str) -> ScheduleError:
        return ScheduleError(f"stage {self.op.name!r}: {message}", help=help)


class NoPrimitiveError(ScheduleError, AttributeError):
    """A stage has no such primitive."""


_ABSENT = {
    "bind": ("CPU targets have no thread axes", "use parallel"),
    "tensorize": ("LLVM selects the instructions", "use vectorize"),
    "rfactor": ("factored reductions are not supported", "reduce in two computes"),
    "pragma": ("pragmas are not supported", None),
    "prefetch": ("prefetch is not supported", None),
    "storage_align": ("every buffer is aligned to 64 bytes", None),
    "double_buffer": ("double buffering is not supported", None),
    "set_scope": ("the scope follows from the position of the stage", None),
    "set_store_predicate": ("stores of inexact splits are guarded", None),
    "env_threads": ("CPU targets have no thread axes", None),
}
"""Primitives of TVM that xrelay lacks → the reason, and the alternative."""


class Schedule:
    """The stages of some outputs and their inputs, recursively: `s[C]` for a tensor or its op."""

    def __init__(self, outputs: Sequence[Operation]):
        self.outputs = list(outputs)
        order = _post_order(self.outputs)
        self.stages = [Stage(op, is_output=op in outputs) for op in order]
        self._by_op = {stage.op: stage for stage in self.stages}

    def __getitem__(self, key: Tensor | Operation) -> Stage:
        """Returns the stage of a tensor or op. Raises `ScheduleError` if the outputs do not depend on it."""
        op = key.op if isinstance(key, Tensor) else key
        if op not in self._by_op:
            names = ", ".join(stage.op.name for stage in self.stages)
            raise ScheduleError(f"the schedule has no stage {getattr(op, 'name', op)!r}", help=f"it has {names}")
        return self._by_op[op]

    def cache_write(self, tensor: Tensor, scope: str = LOCAL) -> Tensor:
        """Computes a tensor in a new buffer, from which its stage copies; returns the tensor of the buffer.

        Raises `ScheduleError` if the stage already has steps, or for a scope other than "local" and "global".
        """
        stage = self[tensor]
        if scope not in (LOCAL, "global"):
            raise ScheduleError(f"unknown memory scope {scope!r}", help='the scopes are "local" and "global"')
        if stage.steps or stage.is_inlined or isinstance(stage.op, (PlaceholderOp, CacheOp)):
            raise ScheduleError(
                f"stage {stage.op.name!r} is already scheduled, inlined or an input",
                help="call cache_write before other primitives",
            )
        made = Stage(CacheOp(stage.op, scope), is_output=False)
        stage.leaf_iter_vars = list(stage.op.axis)
        self.stages.insert(self.stages.index(stage), made)
        self._by_op[made.op] = made
        return made.op.tensor

    def _repr_html_(self) -> str:
        """Returns the stages with their loops, outermost first, and their steps as HTML, for notebooks."""
        rows = [(stage.op.name, stage.place, stage.loops, stage.record) for stage in self.stages]
        return html_table(["stage", "computed", "loops", "steps"], rows)

    def cache_read(self, tensor: Tensor, scope: str, readers: object) -> Tensor:
        """Raises `ScheduleError`: tensors cannot be cached for reading."""
        raise ScheduleError(f"{tensor.name!r} cannot be cached for reading", help="compute a copy and read it")


def create_schedule(ops: Operation | Tensor | Sequence[Operation | Tensor]) -> Schedule:
    """Returns a schedule of outputs and their inputs, recursively, with one sequential loop nest per stage."""
    given = list(ops) if isinstance(ops, (list, tuple)) else [ops]
    outputs: list[Operation] = []
    for item in given:
        op = item.op if isinstance(item, Tensor) else item
        if not isinstance(op, Operation) or isinstance(op, PlaceholderOp):
            raise ScheduleError(f"{op!r} is not a compute", help="pass the op of a te.compute: C.op")
        outputs.append(op)
    return Schedule(outputs)


def AutoInlineInjective(schedule: Schedule) -> None:  # noqa: N802 (Relay's name)
    """Inlines every stage that is not an output and has neither a reduction nor a schedule."""
    for stage in schedule.stages:
        is_plain = isinstance(stage.op, ComputeOp) and not stage.op.reduce_axis and not stage.is_output
        if is_plain and not stage.steps and stage.attached is None and not _is_cached(schedule, stage):
            stage.compute_inline()


AutoInlineElemWise = AutoInlineInjective
AutoInlineBroadcast = AutoInlineInjective


def _is_cached(schedule: Schedule, stage: Stage) -> bool:
    return any(isinstance(one.op, CacheOp) and one.op.of is stage.op for one in schedule.stages)


def _post_order(outputs: Sequence[Operation]) -> list[Operation]:
    """Returns the ops that `outputs` depend on, producers first. Iterative."""
    order: dict[Operation, None] = {}
    stack: list[tuple[Operation, bool]] = [(op, False) for op in reversed(outputs)]
    while stack:
        op, ready = stack.pop()
        if ready:
            order[op] = None
        elif op not in order:
            stack.append((op, True))
            stack.extend((tensor.op, False) for tensor in reversed(op.input_tensors))
    return list(order)
