"""Compilation of models that draw random numbers.

    with drawn_numbers(seed=0):
        model = xrelay.compile("generator.onnx")

A compiled model draws its numbers from the seed: they are the same in every run.
"""

from xrelay.frontend.onnx.converters.random import drawn_numbers

__all__ = ["drawn_numbers"]
