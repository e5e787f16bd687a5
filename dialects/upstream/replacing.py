"""Replaces ops and attributes of xDSL's dialects by versions closer to upstream MLIR."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.ir import Attribute, Dialect, Operation


def replace_ops(
    dialect: Dialect, operations: Sequence[type[Operation]], attributes: Sequence[type[Attribute]] = ()
) -> Dialect:
    """`dialect` with `operations` and `attributes`, which replace those of the same name."""
    new_ops, new_attrs = {op.name for op in operations}, {attr.name for attr in attributes}
    return Dialect(
        dialect.name,
        [*(op for op in dialect.operations if op.name not in new_ops), *operations],
        [*(attr for attr in dialect.attributes if attr.name not in new_attrs), *attributes],
        [interface for interface in [dialect.get_interface(ConstantMaterializationInterface)] if interface is not None],
    )
