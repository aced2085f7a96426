"""Hypothesis profiles: no deadlines anywhere, the same examples every time in continuous integration."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("codt", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("codt"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "codt")
