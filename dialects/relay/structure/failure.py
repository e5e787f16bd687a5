"""`relay.fail`: raises an error at run time."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def

from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.properties import string_property
from xrelay.dialects.relay.structure.graph_op import GraphOp
from xrelay.dialects.shared.container_types import OptionalType, SequenceType
from xrelay.dialects.shared.types import joined_types
from xrelay.index_algebra.dims import AnyDim, Dim


@irdl_op_definition
class FailOp(GraphOp):
    """Raises an error with the text `message` if the op runs. The result, of type `of`, is never computed.

    It ends a branch without a value, such as a branch whose operands have types that an op does not accept. Names of
    dimensions in `of` are those of the program; each `?` is an extent that the op introduces.

    Constraints:
    - C1: `of` is the type of a tensor, a sequence or an optional.
    - C2: the message has text.

    Example:
    ```mlir
    %x = relay.fail() {message = "the weight has rank 2", of = tensor<4xf32>} : () -> tensor<4xf32>
    ```

    """

    name = "relay.fail"

    message = string_property()
    of = prop_def()

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns `of`, with names for the extents that the op introduces; C1 and C2."""
        is_value = isinstance(self.of, TensorType | SequenceType | OptionalType)
        facts.require(is_value, "C1", f"the result must be a tensor, a sequence or an optional, found {self.of}")
        facts.require(bool(self.message.data), "C2", "the message is empty")
        if not isinstance(self.of, TensorType):
            return self.of
        position = 0

        def chosen(dims: Sequence[Dim]) -> Dim:
            nonlocal position
            position += 1
            return facts.new_extent("d", position) if isinstance(dims[0], AnyDim) else dims[0]

        return joined_types([self.of], chosen) or self.of
