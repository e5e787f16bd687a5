"""The ops from which nodes are drawn, and their schemas: from onnx, and from onnxruntime for its own.

Ops are named as in the registry of converters: `Relu`, `com.microsoft::Gelu`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import onnx
from onnx.defs import OpSchema, SchemaError

from xrelay.frontend.onnx.registry import MICROSOFT, TRADITIONAL

VERSIONS = {MICROSOFT: 1, TRADITIONAL: 4}
"""The versions of other domains that models import."""

LATER = {"TreeEnsemble": 5}
"""Newer ops of `ai.onnx.ml`, and the version that introduces them."""


def version_of(op_type: str, domain: str) -> int:
    """The version of a domain other than ONNX's own in which an op of it is drawn."""
    return LATER.get(op_type, VERSIONS.get(domain, 1))


def domain_and_type(op: str) -> tuple[str, str]:
    """The domain of an op, empty for ONNX's own, and its type."""
    domain, _, op_type = op.rpartition("::")
    return domain, op_type


@cache
def schema_of(op: str, opset: int) -> OpSchema | None:
    """The schema of an op in an opset of ONNX's own domain; None if it does not exist or is deprecated."""
    domain, op_type = domain_and_type(op)
    found = _runtime_schemas().get((domain, op_type))
    try:
        schema = onnx.defs.get_schema(op_type, version_of(op_type, domain) if domain else opset, domain)
    except SchemaError:
        # Some of onnxruntime's own operators are in the default domain.
        return None if found is None else _as_onnx(found)
    return None if schema.deprecated else schema


def needed_schema(op: str, opset: int) -> OpSchema:
    """The schema of an op; raises `LookupError` without one."""
    schema = schema_of(op, opset)
    if schema is None:
        raise LookupError(f"{op} has no schema in opset {opset}")
    return schema


@cache
def _runtime_schemas() -> dict[tuple[str, str], Any]:
    """The schemas of the operators that only onnxruntime has, by domain and type."""
    runtime: Any = import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    schemas = runtime.get_all_operator_schema()
    return {(each.domain, each.name): each for each in schemas if each.domain == MICROSOFT or _is_unknown(each)}


def _is_unknown(schema: Any) -> bool:
    return schema.domain == "" and not onnx.defs.has(schema.name)


def _as_onnx(schema: Any) -> OpSchema:
    """Converts a schema of onnxruntime into onnx's class of the same structure."""
    return OpSchema(
        schema.name,
        schema.domain,
        schema.since_version,
        inputs=[_formal(each) for each in schema.inputs],
        outputs=[_formal(each) for each in schema.outputs],
        type_constraints=[(each.type_param_str, list(each.allowed_type_strs), "") for each in schema.type_constraints],
        attributes=[_attribute(each) for each in schema.attributes.values()],
    )


def _formal(formal: Any) -> OpSchema.FormalParameter:
    option = OpSchema.FormalParameterOption(int(formal.option))
    return OpSchema.FormalParameter(
        formal.name, formal.typeStr, param_option=option, is_homogeneous=formal.isHomogeneous
    )


def _attribute(attribute: Any) -> OpSchema.Attribute:
    default = onnx.AttributeProto.FromString(attribute._default_value)
    if default.name:
        return OpSchema.Attribute(attribute.name, default, attribute.description)
    kind = OpSchema.AttrType(int(attribute.type))
    return OpSchema.Attribute(attribute.name, kind, attribute.description, required=attribute.required)
