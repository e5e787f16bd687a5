"""The values of named extents that a folded op introduces: the extents of its arrays."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Operation

from xrelay.dialects.shared.container_types import Value
from xrelay.dialects.shared.recorded_requirements import made_extents
from xrelay.dialects.shared.types import shape_of
from xrelay.passes.types.dim_names import single_name


def folded_extents(op: Operation, value: Value) -> Mapping[str, int] | None:
    """The named extents that `op` introduces, with their values in the result `value`; `None` if one has no value."""
    made = {extent.name for extent in made_extents(op)}
    type = op.results[0].type
    types = type.types.data if isinstance(type, TupleType) else (type,)
    found: dict[str, int] = {}
    for each, array in zip(types, value if isinstance(value, tuple) else (value,), strict=True):
        if made and isinstance(each, TensorType) and not isinstance(array, tuple):
            names = zip(map(single_name, shape_of(each)), array.shape, strict=True)
            found |= {name: extent for name, extent in names if name in made}
    return found if len(found) == len(made) else None
