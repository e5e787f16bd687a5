"""All networks."""

from __future__ import annotations

from support.onnx_networks.branches import BRANCHES
from support.onnx_networks.detector import DETECTORS
from support.onnx_networks.language import LANGUAGE
from support.onnx_networks.later_language import LATER_LANGUAGE
from support.onnx_networks.mobile import MOBILE
from support.onnx_networks.pixels import PIXELS
from support.onnx_networks.quantised import QUANTISED
from support.onnx_networks.sound import SOUND
from support.onnx_networks.vision_transformers import VISION_TRANSFORMERS

NETWORKS = [
    *MOBILE,
    *BRANCHES,
    *PIXELS,
    *DETECTORS,
    *VISION_TRANSFORMERS,
    *LANGUAGE,
    *LATER_LANGUAGE,
    *SOUND,
    *QUANTISED,
]
