"""Reports the refunds and cancellations of a program to Backstop."""

from __future__ import annotations

from .problems import ApiProblem, NoAnswer, Problem
from .recorder import WatchedCall
from .report import Report
from .reporter import Reporter, watch
from .status import Status

__all__ = ["ApiProblem", "NoAnswer", "Problem", "Report", "Reporter", "Status", "WatchedCall", "watch"]
