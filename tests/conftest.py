"""What holds for every test: hypothesis never reads the clock, so a busy machine fails nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("xrelay", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("xrelay")
