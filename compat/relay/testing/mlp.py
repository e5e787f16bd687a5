"""A perceptron with three layers for images of digits."""

from __future__ import annotations

from xrelay.relay import Function, nn, var
from xrelay.relay.testing import layers
from xrelay.relay.testing.init import Workload, create_workload


def get_net(
    batch_size: int, num_classes: int = 10, image_shape: tuple[int, ...] = (1, 28, 28), dtype: str = "float32"
) -> Function:
    """Returns the network: layers of 128, 64 and `num_classes` units."""
    net = nn.batch_flatten(var("data", shape=(batch_size, *image_shape), dtype=dtype))
    for number, units in enumerate((128, 64), start=1):
        net = nn.relu(layers.dense_add_bias(net, units=units, name=f"fc{number}"))
    net = nn.softmax(layers.dense_add_bias(net, units=num_classes, name="fc3"))
    return layers.function_of(net)


def get_workload(
    batch_size: int, num_classes: int = 10, image_shape: tuple[int, ...] = (1, 28, 28), dtype: str = "float32"
) -> Workload:
    """Returns the network as a module, and its parameters."""
    return create_workload(get_net(batch_size, num_classes, image_shape, dtype))
