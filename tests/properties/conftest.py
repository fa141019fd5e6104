"""How many examples: `default` is the same 300 every time, `nightly` is many and new ones (HYPOTHESIS_PROFILE)."""

import os

from hypothesis import HealthCheck, settings

_SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile(
    "default", max_examples=300, deadline=None, derandomize=True, print_blob=True, suppress_health_check=_SLOW
)
settings.register_profile("nightly", max_examples=10_000, deadline=None, print_blob=True, suppress_health_check=_SLOW)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))
