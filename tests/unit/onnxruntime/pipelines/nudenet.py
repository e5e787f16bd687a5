"""Returns the first coordinates of the candidates for objects in an image of noise, in units of ten pixels."""

from __future__ import annotations

import numpy as np
from nudenet import NudeDetector

detector = NudeDetector()
image = np.random.default_rng(0).random((1, 3, 320, 320), np.float32)
(candidates,) = detector.onnx_session.run(None, {detector.input_name: image})
result = (candidates.ravel()[:100] / 10).tolist()
