"""Rewrites of primitives, registered for their classes with `@rewrites(Split)`, and the passes that apply them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, make_dataclass
from typing import Any, ClassVar, TypeVar, get_type_hints

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.loop import SchedulePrimitive, Tail
from xrelay.errors import PassError, ScheduleError
from xrelay.passes.infra.xrelay_pass import REORDERS_SUMS, Numerics, XRelayPass
from xrelay.passes.loop.nest_queries import blocks_of, kernels_of, loops_of
from xrelay.plugins import load_plugins
from xrelay.registrations import import_registrations, registering

Rewrite = Callable[[func.FuncOp, Any], Sequence[str] | None]
"""Changes the kernel in place; raises `ScheduleError` and leaves the kernel unchanged if this is not legal.

The second argument is an instance of the primitive's own class. A rewrite that makes loops or blocks may return their
names.
"""

RewriteT = TypeVar("RewriteT", bound=Rewrite)

_OWN = (
    "split", "cut", "fuse", "reorder", "tile", "unroll", "vectorize", "contract", "tensorize", "exit_early",
    "parallelize", "cache_read", "cache_write", "compute_at", "set_tail", "disable_unroll", "guard",
    "partial_sums", "cache_inplace", "rfactor", "reverse_compute_at", "share_result", "storage_align",
    "prefetch",
)  # fmt: skip

REWRITES: dict[str, Rewrite | str] = {name: f"xrelay.passes.loop.primitives.{name}" for name in _OWN}
"""Maps the name of a primitive to its function, or to the module that registers it on first use."""


def rewrites(primitive: type[SchedulePrimitive]) -> Callable[[RewriteT], RewriteT]:
    """Decorator that registers a function as the rewrite of a primitive, which `register_primitive` has registered."""
    return registering(REWRITES, primitive.primitive)


def rewrite_of(primitive: type[SchedulePrimitive]) -> Rewrite:
    """The rewrite of a primitive; raises `ScheduleError` if none is registered."""
    name = primitive.primitive
    if name not in REWRITES:
        load_plugins("schedules")
    if isinstance(module := REWRITES.get(name), str):
        import_registrations([module])
    rewrite = REWRITES.get(name)
    if rewrite is None or isinstance(rewrite, str):
        raise ScheduleError(f"primitive '{name}' has no rewrite", help="register one with @rewrites")
    return rewrite


def apply_primitive(kernel: func.FuncOp, step: SchedulePrimitive) -> Sequence[str]:
    """Applies one primitive to a kernel, in place; returns the names of the loops and blocks that it made.

    On failure, the kernel is unchanged, and a `ScheduleError` has the primitive, its loop or block, the reason and
    advice.
    """
    if (problem := step.problem()) is not None:
        raise ScheduleError(f"{step.primitive}: {problem}", help="see the primitive's documentation")
    made = rewrite_of(type(step))(kernel, step)
    return () if made is None else made


@dataclass(frozen=True, kw_only=True)
class PrimitivePass(XRelayPass):
    """Applies one primitive to every kernel that has the named loops and blocks, or to `kernel` alone.

    Raises `ScheduleError` if the primitive is not legal, and `PassError` if no kernel has the names. The options are
    those of the primitive.
    """

    name = "loop-primitive"
    of: ClassVar[type[SchedulePrimitive]]

    kernel: str | None = field(default=None, metadata={"help": "the only kernel to change, by symbol name"})

    def primitive(self) -> SchedulePrimitive:
        """The primitive with the pass's options; raises `PassError` for an unknown tail."""
        values: dict[str, Any] = {}
        for spec in fields(self.of):
            value = getattr(self, _option_name(spec))
            values[spec.name] = _tail(value) if _type_of(self.of, spec) is Tail else value
        return self.of(**values)

    def subjects(self) -> tuple[str, ...]:
        """The names of loops and blocks that select kernels."""
        named = [getattr(self, _option_name(spec)) for spec in fields(self.of) if spec.metadata.get("names")]
        return tuple(name for value in named for name in ((value,) if isinstance(value, str) else value))

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Applies the primitive to each selected kernel."""
        kernels = [kernel for kernel in kernels_of(op) if self._is_meant(kernel)]
        if not kernels:
            wanted = ", ".join(repr(name) for name in self.subjects())
            place = "no kernel" if self.kernel is None else f"@{self.kernel}, if it is a kernel,"
            raise PassError(f"{self.name}: {place} has {wanted}", help="name loops and blocks as in the text")
        for kernel in kernels:
            apply_primitive(kernel, self.primitive())

    def _is_meant(self, kernel: func.FuncOp) -> bool:
        if self.kernel is not None:
            return kernel.sym_name.data == self.kernel
        return set(self.subjects()) <= loops_of(kernel).keys() | blocks_of(kernel).keys()


def primitive_pass(
    primitive: type[SchedulePrimitive], example: str, numerics: Numerics = REORDERS_SUMS
) -> type[PrimitivePass]:
    """Makes the pass `loop-<primitive>` of a registered primitive; `example` are the options in its help.

    The pass has an option for each field of the primitive, with the field's help, and the documentation of the rewrite.
    """
    verb = primitive.primitive.replace("_", "-")
    rewrite = rewrite_of(primitive)
    members = {
        "name": f"loop-{verb}",
        "numerics": numerics,
        "of": primitive,
        "__doc__": _documentation(rewrite.__doc__, f"loop-{verb}{{{example}}}"),
        "__module__": rewrite.__module__,
    }
    options = [_option(primitive, spec) for spec in fields(primitive)]
    title = "".join(part.capitalize() for part in verb.split("-"))
    return make_dataclass(
        f"Loop{title}Pass", options, bases=(PrimitivePass,), namespace=members, frozen=True, kw_only=True
    )


def _documentation(text: str | None, example: str) -> str:
    """Returns the documentation of a pass from that of its rewrite; the fields of `step` are options of the pass."""
    main = inspect.cleandoc("Apply the primitive." if text is None else text).replace("`step.", "`")
    return (
        f"{main}\n\nFor example `-p '{example}'`. The kernels that have the loops and blocks named are changed,\n"
        "or `kernel` alone; it is an error if no kernel has them."
    )


def _option(primitive: type[SchedulePrimitive], spec: Field[Any]) -> tuple[str, Any, Any]:
    """Name, type and field of the option for a field; a tail is kept as text."""
    hint = _type_of(primitive, spec)
    metadata = {"help": spec.metadata.get("help", spec.name)}
    if spec.default is MISSING:
        return _option_name(spec), str if hint is Tail else hint, field(metadata=metadata)
    default = str(spec.default) if hint is Tail else spec.default
    return _option_name(spec), str if hint is Tail else hint, field(default=default, metadata=metadata)


def _type_of(primitive: type[SchedulePrimitive], spec: Field[Any]) -> Any:
    return get_type_hints(primitive, vars(sys.modules[primitive.__module__]))[spec.name]


def _option_name(spec: Field[Any]) -> str:
    """The name of the option: that of the field, unless every pass has an attribute of that name."""
    return spec.metadata.get("option", spec.name)


def _tail(text: str) -> Tail:
    """The tail strategy called `text`."""
    if text not in list(Tail):
        raise PassError(f"no tail is called {text!r}", help="use peel or mask")
    return Tail(text)
