"""Reads two lines of text in an image: detection, classification of the angle, recognition."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from rapidocr_onnxruntime import RapidOCR

image = Image.new("RGB", (320, 120), "white")
draw = ImageDraw.Draw(image)
for row, text in ((15, "Hello 2026"), (65, "relay to native")):
    draw.text((20, row), text, fill="black", font=ImageFont.load_default(28))
lines, _ = RapidOCR()(np.asarray(image))
result = [[np.ravel(box).tolist(), text, float(score)] for box, text, score in lines]
