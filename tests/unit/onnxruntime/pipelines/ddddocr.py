"""Reads the four characters of an image."""

from __future__ import annotations

from io import BytesIO

import ddddocr
from PIL import Image, ImageDraw, ImageFont

image, file = Image.new("RGB", (160, 64), "white"), BytesIO()
ImageDraw.Draw(image).text((10, 10), "k7Rw", fill="black", font=ImageFont.load_default(40))
image.save(file, "PNG")
result = list(ddddocr.DdddOcr(show_ad=False).classification(file.getvalue()))
