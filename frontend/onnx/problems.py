"""Errors of nodes. The importer treats each class differently."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from xdsl.ir import SSAValue

from xrelay.errors import ModelImportError


class UnsupportedNodeError(ModelImportError):
    """A node without a converter for its op, opset and attributes."""


class DependentNodeError(ModelImportError):
    """A node that is not converted because a node it depends on is not."""


class UntypedNodeError(ModelImportError):
    """A node that does not fit the types of its inputs. In a branch it fails at run time if the branch is taken."""


class MalformedGraphError(ModelImportError):
    """An undefined value, a cycle or too many nodes: an error of the import even in a branch."""


class OutputRanksError(ModelImportError):
    """An output of a body has several ranks, depending on an If in the body."""


class BranchRanksError(ModelImportError):
    """The results of an If differ in rank.

    `condition` is the condition of the If. `branch` is the branch that it takes, if the condition is known.
    """

    condition: SSAValue
    branch: str | None

    def __init__(self, error: ModelImportError, condition: SSAValue, branch: str | None = None):
        super().__init__(error.message, location=error.location, help=error.help)
        self.condition, self.branch = condition, branch


class ReplacedNodeError(ModelImportError):
    """A node that other nodes replace; the importer converts those instead."""

    nodes: Sequence[onnx.NodeProto]

    def __init__(self, nodes: Sequence[onnx.NodeProto], location: str):
        super().__init__("only the surrounding list of nodes can replace the node", location=location)
        self.nodes = nodes
