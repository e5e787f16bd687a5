"""The light models in the test data of the onnx package: real graphs with random weights."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable

import onnx

from xrelay.errors import InputError
from xrelay.frontend.onnx.load import load_model
from xrelay.frontend.onnx.random_weights import with_random_weights

_PREFIX = "light_"


def light_models() -> list[str]:
    """Returns the names of the models, `resnet50` among them."""
    files = (entry.name for entry in _folder().iterdir())
    return sorted(
        name.removeprefix(_PREFIX).removesuffix(".onnx")
        for name in files
        if name.startswith(_PREFIX) and name.endswith(".onnx")
    )


def light_model(name: str, *, seed: int = 0) -> onnx.ModelProto:
    """Returns the model called `name` with seeded random weights; raises `InputError` for an unknown name."""
    if name not in light_models():
        raise InputError(f"unknown example model {name!r}", help=f"known are {', '.join(light_models())}")
    with resources.as_file(_folder() / f"{_PREFIX}{name}.onnx") as path:
        model = load_model(path).proto
    return with_random_weights(model, seed)


def _folder() -> Traversable:
    return resources.files("onnx.backend.test") / "data" / "light"
