"""Models that draw random numbers, which a compiled model draws by a seed: the same in every run.

with drawn_numbers(seed=0):
model = xrelay.compile("generator.onnx")
"""

from xrelay.frontend.onnx.converters.random import drawn_numbers

__all__ = ["drawn_numbers"]
