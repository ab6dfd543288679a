"""The libraries that a reporter can watch."""

from __future__ import annotations

from collections.abc import Sequence

from .chargebee import ChargebeeSdk
from .paddle import PaddleSdk
from .sdk import Sdk
from .stripe import StripeSdk

SDKS: Sequence[Sdk] = (StripeSdk(), PaddleSdk(), ChargebeeSdk())
