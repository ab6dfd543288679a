"""What follows from a change of a queue."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from .problems import OnProblem, Problem


@dataclass
class Effects:
    """Answers for waiting calls and problems, which must not happen while the queue is locked."""

    answered: list[tuple[Future[bool], bool]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def carry_out(self, on_problem: OnProblem) -> None:
        """Lets the calls continue, and reports the problems."""
        for future, is_delivered in self.answered:
            future.set_result(is_delivered)
        for problem in self.problems:
            on_problem(problem)
