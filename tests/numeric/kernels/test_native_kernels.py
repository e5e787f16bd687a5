"""Kernels of the loop level in native code, against their definitions in numpy."""

from __future__ import annotations

import numpy as np
import pytest
from support.kernels.native_kernel_cases import CASES, Case
from support.native_kernels import NativeKernel


@pytest.mark.grid(6)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_native_kernel_computes_its_meaning(case: Case):
    inputs, outputs = case.arrays()
    NativeKernel(case.text)(*inputs, *outputs)
    for found, expected in zip(outputs, case.expected(*inputs), strict=True):
        np.testing.assert_allclose(found, expected, rtol=case.tolerance, atol=case.tolerance)
