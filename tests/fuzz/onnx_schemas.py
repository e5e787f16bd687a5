"""Proposes random nodes of any ONNX op from its schema: names, types and defaults of its operands and attributes.

ONNX names similar parameters alike: `axis` is an axis of the first operand wherever it occurs, `indices` index along an
axis, `scale` is a vector along one. `SETTINGS` and `RELATED` map such a name, of an attribute or operand, to its
generator; an operand of another name is data that broadcasts with the first, or a factor of a product. A proposal may
be invalid, which `fuzz.onnx_acceptance` decides. Ops with constraints among operands have generators in
`fuzz.onnx_drawings*`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from onnx import helper, numpy_helper
from onnx.defs import OpSchema

from fuzz.onnx_draft import Draft, known_dtypes
from fuzz.onnx_ops import needed_schema

Shape = tuple[int, ...]

IGNORED = frozenset({"consumed_inputs", "seed", "stash_type"})
"""Attributes that are omitted: of training, of opset 1, or of precision."""

PLACES: tuple[Shape, ...] = ((), (1,), (3,), (2, 2), (0,))
"""Possible shapes of indices."""


class Proposal:
    """A node being proposed: the shape of its first operand, and choices that several parameters share."""

    def __init__(self, draft: Draft):
        self.draft = draft
        self.schema = needed_schema(draft.op, draft.opset)
        self._dtypes: dict[str, np.dtype[Any]] = {}
        shape = draft.shape(0 if draft.chance(0.1) else 1)
        # An extent of 0 has no valid index.
        indexed = any(formal.name == "indices" for formal in self.schema.inputs)
        self.shape = tuple(max(extent, 1) for extent in shape) if indexed else shape
        self.rank = len(shape)
        self.count = draft.integer(1, self.rank) if shape else 0
        self.places: Shape = draft.pick(*PLACES)
        self.parts = draft.integer(1, max(self.rank, 1))
        self.form = draft.pick("anywhere", "reaching", "tuples")
        self.vector: Shape | None = None
        self.domain = "small" if draft.chance(0.3) else "any"

    @property
    def axis(self) -> int:
        """The attribute `axis`, made non-negative, or the last axis."""
        return int(self.draft.attributes.get("axis", self.default("axis", -1))) % max(self.rank, 1)

    def default(self, name: str, otherwise: int) -> int:
        """The default of an attribute."""
        known = self.schema.attributes.get(name)
        return known.default_value.i if known is not None and known.default_value.name else otherwise

    def extents(self, first: int, last: int | None = None) -> Shape:
        """Extents of the first operand; empty for a scalar."""
        return self.shape[first:last]

    def dtype(self, formal: OpSchema.FormalParameter) -> np.dtype[Any]:
        """The dtype of an operand or result; equal for one type variable."""
        known = known_dtypes(frozenset(formal.types))
        first = self.schema.inputs[0].type_str if self.schema.inputs else ""
        chosen = self.draft.dtype if formal.type_str == first else self.draft.pick(*known)
        return self._dtypes.setdefault(formal.type_str, chosen)


def _steps(p: Proposal) -> list[int]:
    return [p.draft.pick(1, 1, 2, 3, -1, -2) for _ in range(p.count)]


def _bounds(p: Proposal) -> list[int]:
    return [p.draft.pick(p.draft.integer(-19, 19), p.draft.integer(-5, 5), 2**30, -(2**30)) for _ in range(p.count)]


def _axes(p: Proposal) -> list[int]:
    chosen = p.draft.rng.permutation(p.rank)[: p.count]
    return [int(axis) - (p.rank if p.draft.chance(0.4) else 0) for axis in chosen]


def _axis(p: Proposal) -> int:
    return p.draft.integer(-p.rank, p.rank if p.draft.chance(0.1) else max(p.rank - 1, 0))


def _chosen_number(p: Proposal) -> Any:
    """A number of elements of an axis, or a diagonal."""
    number = p.draft.integer(0, (*p.extents(p.axis), 3)[0])
    return number if p.draft.chance(0.5) else [number]


def _wider(p: Proposal) -> Shape:
    """A shape to which the first operand broadcasts."""
    shape = [p.draft.pick(1, 4) if extent == 1 else extent for extent in p.shape]
    return (*p.draft.pick((), (), (2,), (1, 3)), *shape)


def _offered(p: Proposal) -> list[int]:
    """A target shape of Expand: it broadcasts with the first operand, and may have 1 for a larger extent."""
    wider = _wider(p)
    return [1 if extent > 1 and p.draft.chance(0.1) else extent for extent in wider[p.draft.integer(0, 1) :]]


SETTINGS: dict[str, Callable[[Proposal], Any]] = {
    "axis": _axis,
    "axes": _axes,
    "batch_dims": lambda p: p.draft.integer(0, max(p.rank - 1, 0)),
    "delta": lambda p: p.draft.pick(1, 2, 3, -1, -2),
    "depth": lambda p: p.draft.pick(0, 1, 3, [8], [2]),
    "end": lambda p: p.draft.integer(-6, 6),
    "ends": _bounds,
    "epsilon": lambda p: p.draft.pick(1e-3, 0.1),
    "k": _chosen_number,
    "limit": lambda p: p.draft.integer(-20, 20),
    "num_groups": lambda p: p.draft.pick(1, 2, 3, *p.extents(1, 2)),
    "perm": lambda p: [int(axis) for axis in p.draft.rng.permutation(p.rank)],
    "repeats": lambda p: [p.draft.pick(1, 2, 3, 0) for _ in p.shape],
    "shape": _offered,
    "start": lambda p: p.draft.integer(-6, 6),
    "starts": _bounds,
    "steps": _steps,
}
"""A number or numbers that configure the node → the generator."""


def _indices(p: Proposal) -> tuple[Shape, str]:
    """Positions along the axis, positions within a smaller shape than the data, or index tuples."""
    low = -1 if p.draft.opset >= 11 else 0
    batch = p.draft.attributes.get("batch_dims", 0)
    if p.form == "tuples":
        least = min(p.shape, default=1)
        p.parts = min(p.parts, max(p.rank - batch, 1))
        p.places = (*p.shape[:batch], *p.places)
        return (*p.places, p.parts), f"whole {low * least} {least}"
    extent = (*p.extents(p.axis), 1)[0]
    if p.form == "reaching":
        p.places = tuple(
            p.draft.pick(0, 1, 3, 7) if axis == p.axis else p.draft.integer(1, length)
            for axis, length in enumerate(p.shape)
        )
    return p.places, f"whole {low * extent} {extent}"


def _updates(p: Proposal) -> tuple[Shape, str]:
    return (*p.places, *p.shape[p.parts :]) if p.form == "tuples" else p.places, p.domain


def _vector(p: Proposal) -> tuple[Shape, str]:
    """The shape of scale and related operands: along axis 1 or its groups, or along the axes from `axis` on."""
    if p.vector is None:
        rest, groups = p.extents(p.axis), p.draft.attributes.get("num_groups")
        others = (rest, p.draft.broadcast_with(rest)) if groups is None else ((groups,),)
        shape: Shape = p.draft.pick(p.extents(1, 2), *others)
        p.vector = shape
    return p.vector, "finite"


def _mask(p: Proposal) -> tuple[Shape, str]:
    """A boolean for each position along the axis or, without one, for each element; the last may be missing."""
    length = p.shape[p.axis] if "axis" in p.draft.attributes and p.shape else int(np.prod(p.shape))
    return (length if p.draft.chance(0.7) else p.draft.integer(0, length),), "any"


RELATED: dict[str, Callable[[Proposal], tuple[Shape, str]]] = {
    "condition": _mask,
    "indices": _indices,
    "max": lambda p: ((), p.domain),
    "min": lambda p: ((), p.domain),
    "scale": _vector,
    "updates": _updates,
    "values": lambda p: ((2,), "any"),
}
"""Data whose shape depends on the first operand other than by broadcasting → its shape and domain."""


def propose(draft: Draft) -> None:
    """Draws attributes, operands and results of the op."""
    proposal = Proposal(draft)
    for name, attribute in sorted(proposal.schema.attributes.items()):
        if name not in IGNORED and (attribute.required or draft.chance(0.5)):
            value = _attribute(proposal, attribute)
            if value is not None:
                draft.attributes[name] = value
    for number, formal in enumerate(proposal.schema.inputs):
        _operand(proposal, number, formal)
    while draft.order and not draft.order[-1]:
        draft.order.pop()
    needed = sum(formal.option == OpSchema.FormalParameterOption.Single for formal in proposal.schema.outputs)
    most = len(proposal.schema.outputs)
    draft.outputs = draft.integer(needed, most) if draft.chance(0.3) else max(needed, 1)


def _attribute(p: Proposal, attribute: OpSchema.Attribute) -> Any:
    kind, draft = attribute.type, p.draft
    if attribute.name in SETTINGS:
        value = SETTINGS[attribute.name](p)
        return np.ravel(value)[0].item() if kind == OpSchema.AttrType.INT else value
    if kind == OpSchema.AttrType.INT:
        switch = attribute.default_value.name and attribute.default_value.i in (0, 1)
        return draft.integer(0, 1) if switch else draft.pick(1, 2, 3)
    if kind == OpSchema.AttrType.FLOAT:
        return draft.pick(0.1, 0.3, 1.5, -0.7)
    words = _words(draft.op, draft.opset, attribute.name)
    if kind == OpSchema.AttrType.STRING and words:
        return draft.pick(*words)
    if kind == OpSchema.AttrType.TENSOR:
        dtype = p.dtype(p.schema.outputs[0])
        return numpy_helper.from_array(np.array([draft.pick(0, 1, 7)]).astype(dtype))
    return None


@cache
def _words(op: str, opset: int, name: str) -> tuple[str, ...]:
    """The possible values of a string attribute: quoted words in its description, and its default."""
    attribute = needed_schema(op, opset).attributes[name]
    found = set(re.findall(r"""["'`](\w+)["'`]""", attribute.description))
    if attribute.default_value.name:
        found.add(helper.get_attribute_value(attribute.default_value).decode())
    return tuple(sorted(found))


def _operand(p: Proposal, number: int, formal: OpSchema.FormalParameter) -> None:
    """Draws one operand, or several for a variadic one."""
    draft, name = p.draft, formal.name.lower()
    if formal.option == OpSchema.FormalParameterOption.Optional and draft.chance(0.4):
        draft.absent()
        return
    dtype = p.dtype(formal)
    if name in SETTINGS and (number or (dtype.kind in "iuf" and name == "start")):
        draft.setting(SETTINGS[name](p), dtype)
    elif number == 0:
        wild = f"whole {0 if dtype.kind == 'u' else -9} 9"
        draft.data(p.shape, dtype, wild if name == "indices" else p.domain)
    elif name in RELATED or (name in ("b", "bias") and p.vector is not None):
        shape, domain = RELATED.get(name, _vector)(p)
        draft.data(shape, dtype, domain, constant=0.5)
    else:
        draft.data(_partner(p), dtype, p.domain, constant=0.4)


def _partner(p: Proposal) -> Shape:
    """The shape of an operand that is combined with the first, elementwise or as a factor of a product."""
    draft = p.draft
    if p.shape and draft.chance(0.25):
        depth, columns = p.shape[-1], draft.pick(1, 2, 3, 5, 17)
        stack = draft.broadcast_with(p.shape[:-2])
        return draft.pick((depth,), (depth, columns), (*stack, depth, columns))
    return _wider(p) if draft.chance(0.3) else draft.broadcast_with(p.shape)
