"""Replaces named dimensions in the types of values and in the attributes of ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute

from xrelay.dialects.relay.structure.call import instantiate, names_in
from xrelay.dialects.shared.attribute_names import REQUIRES
from xrelay.dialects.shared.dims_attr import DimBindingsAttr
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.requirements import BoundsAttr, NewExtent, RequirementsAttr
from xrelay.errors import DimensionError, TypeInferenceError
from xrelay.index_algebra.dims import Dim, names_of, substitute
from xrelay.passes.graph.replacements import retype
from xrelay.passes.infra.verify import walk_ops


def dim_names_in(top: Operation) -> list[str]:
    """Returns the names of dimensions in the types of values in `top` and in the attributes of its ops, each once."""
    names = DimNamesOfOps()
    return list(dict.fromkeys(name for op in walk_ops(top) for name in names.of(op)))


class DimNamesOfOps:
    """Finds the names of dimensions in ops: in the types of values that they define, and in their attributes."""

    def __init__(self) -> None:
        # Ops share types, so each object is visited once.
        self._known: dict[int, tuple[Attribute, Sequence[str]]] = {}

    def of(self, op: Operation) -> list[str]:
        """Returns the names in `op` and in the types of its block arguments, but not in the ops inside of it."""
        return list(dict.fromkeys(name for attribute in _attributes(op) for name in self._names(attribute)))

    def _names(self, attribute: Attribute) -> Sequence[str]:
        known = self._known.get(id(attribute))
        if known is None:
            known = self._known[id(attribute)] = attribute, _names_of(attribute)
        return known[1]


class DimSubstitution:
    """Replaces names of dimensions by dimensions. Names of extents that ops introduce can only be replaced by names."""

    def __init__(self, bindings: Mapping[str, Dim]):
        self._bindings = bindings
        self._known: dict[int, tuple[Attribute, Attribute]] = {}

    def apply(self, ops: Sequence[Operation]) -> None:
        """Replaces the names in `ops` and in the ops inside of them.

        Raises `TypeInferenceError` if a dimension becomes undefined.
        """
        types: dict[SSAValue, Attribute] = {}
        for op in (inner for outer in ops for inner in walk_ops(outer)):
            try:
                types |= {value: new for value in defined_values(op) if (new := self.of(value.type)) is not value.type}
                for attributes in (op.attributes, op.properties):
                    changed = {name: self.of(attribute) for name, attribute in attributes.items()}
                    attributes |= {name: new for name, new in changed.items() if new is not attributes[name]}
                if op.attributes.get(REQUIRES) == RequirementsAttr(()):
                    del op.attributes[REQUIRES]
            except DimensionError as error:
                raise TypeInferenceError(error.message, location=location_of(op)) from error
        retype(types)

    def of(self, attribute: Attribute) -> Attribute:
        """Returns `attribute` with its names replaced; the same object if nothing changes."""
        known = self._known.get(id(attribute))
        if known is None:
            known = self._known[id(attribute)] = attribute, self._replaced(attribute)
        return known[1]

    def _replaced(self, attribute: Attribute) -> Attribute:
        new = attribute
        if isinstance(attribute, TypeAttribute):
            new = instantiate(attribute, self._bindings)
        elif isinstance(attribute, RequirementsAttr):
            requirements = [requirement.substitute(self._bindings) for requirement in attribute.data]
            new = RequirementsAttr(
                tuple(requirement for requirement in requirements if requirement.names or not requirement.holds({}))
            )
        elif isinstance(attribute, BoundsAttr):
            new = BoundsAttr(tuple(map(self._extent, attribute.data)))
        elif isinstance(attribute, DimBindingsAttr):
            values = substitute([dim for _, dim in attribute.data], self._bindings)
            new = DimBindingsAttr(tuple(zip((name for name, _ in attribute.data), values, strict=True)))
        return attribute if new == attribute else new

    def _extent(self, extent: NewExtent) -> NewExtent:
        name = self._bindings.get(extent.name, extent.name)
        bound = None if extent.at_most is None else substitute([extent.at_most], self._bindings)[0]
        return NewExtent(str(name), bound)


def _attributes(op: Operation) -> list[Attribute]:
    """Returns the types of the values that `op` and its regions define, and the attributes and properties of `op`."""
    return [*(value.type for value in defined_values(op)), *op.attributes.values(), *op.properties.values()]


def _names_of(attribute: Attribute) -> Sequence[str]:
    if isinstance(attribute, TypeAttribute):
        return names_in([attribute])
    dims: list[Dim] = []
    made: list[str] = []
    if isinstance(attribute, RequirementsAttr):
        dims = [side for requirement in attribute.data for side in (requirement.lhs, requirement.rhs)]
    elif isinstance(attribute, DimBindingsAttr):
        dims = [dim for _, dim in attribute.data]
    elif isinstance(attribute, BoundsAttr):
        made = [extent.name for extent in attribute.data]
        dims = [extent.at_most for extent in attribute.data if extent.at_most is not None]
    return [*made, *(name for dim in dims for name in sorted(names_of(dim)))]
