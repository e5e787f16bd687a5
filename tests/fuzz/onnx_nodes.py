"""Random ONNX models of one node: every registered op, opset and dtype that ONNX permits and xrelay supports.

    model = random_node_model(rng)                    # or random_node_model(rng, "Conv", opset=11)
    inputs = random_inputs(rng, model)

An op is drawn by its function in `fuzz.onnx_drawings*`, or without one is proposed from its schema until a proposal is
valid. Equal seeds yield equal models.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import onnx

from fuzz.onnx_acceptance import accepted
from fuzz.onnx_draft import DRAWINGS, Draft, known_dtypes, random_inputs
from fuzz.onnx_ops import domain_and_type, needed_schema, schema_of, version_of
from fuzz.onnx_schemas import propose
from xrelay.frontend.onnx import registered_ops
from xrelay.frontend.onnx.registry import find_converter

__all__ = ["drawn_ops", "opsets_of", "random_inputs", "random_node_model"]

FIRST_OPSET, LAST_OPSET = 6, 24
GRAPH = onnx.defs.OpSchema.AttrType.GRAPH
SEEDED = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
"""Ops with unspecified random results; xrelay seeds them, and the tests of that seed cover them."""
TRIES = 60
"""The maximum number of proposals."""


@cache
def opsets_of(op: str) -> tuple[int, ...]:
    """The opsets in which the op exists, has tensor operands and results, and has a converter.

    For an op of another domain, these are all opsets of ONNX's own domain in its models.
    """
    domain, op_type = domain_and_type(op)
    return tuple(
        opset
        for opset in range(FIRST_OPSET, LAST_OPSET + 1)
        if schema_of(op, opset) is not None
        and find_converter(op_type, domain, version_of(op_type, domain) if domain else opset) is not None
        and _has_tensors(op, opset)
    )


@cache
def drawn_ops() -> tuple[str, ...]:
    """The registered ops of ONNX and onnxruntime with tensor operands and results, without subgraphs.

    Ops in `SEEDED` are excluded.
    """
    names = (
        "onnx_drawings",
        "onnx_drawings_attention",
        "onnx_drawings_microsoft",
        "onnx_drawings_microsoft_layers",
        "onnx_drawings_microsoft_sums",
        "onnx_drawings_nn",
        "onnx_drawings_quantized",
        "onnx_drawings_quantized_microsoft",
        "onnx_drawings_sequences",
        "onnx_drawings_signal",
        "onnx_drawings_traditional",
    )
    for module in (f"fuzz.{name}" for name in names):
        import_module(module)

    return tuple(op for op in registered_ops() if opsets_of(op) and op not in SEEDED)


def _has_tensors(op: str, opset: int) -> bool:
    """Whether each operand and result may be a tensor, and no attribute is a graph."""
    schema = needed_schema(op, opset)
    if any(attribute.type == GRAPH for attribute in schema.attributes.values()):
        return False
    return all(known_dtypes(frozenset(formal.types)) for formal in (*schema.inputs, *schema.outputs))


def random_node_model(
    rng: np.random.Generator, op_type: str | None = None, opset: int | None = None
) -> onnx.ModelProto:
    """Returns a model of one node; op and opset are random unless given.

    Raises `LookupError` if `TRIES` proposals are invalid.
    """
    ops = drawn_ops()
    op = ops[int(rng.integers(len(ops)))] if op_type is None else op_type
    known = opsets_of(op)
    chosen = known[int(rng.integers(len(known)))] if opset is None else opset
    for _ in range(TRIES):
        draft = Draft(rng, op, chosen)
        DRAWINGS.get(op, propose)(draft)
        model = draft.model()
        if op in DRAWINGS or accepted(rng, model):
            return model
    raise LookupError(f"{TRIES} proposals of {op} in opset {chosen} mean nothing")
