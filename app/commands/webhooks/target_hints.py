"""A hint for targets on the user's own machine, which are refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from app.domain.urls.web_urls import is_private_target
from app.domain.values.errors import Problem, Refused, problem_text
from app.domain.values.inputs import present
from app.ports.instance import WebhookDraft


@contextmanager
def explain_target_errors(draft: WebhookDraft) -> Iterator[None]:
    """Extend the error about the target in ``draft`` with how to receive events locally."""
    try:
        yield
    except Refused as refused:
        target = present(draft.target_url, "")
        raise Refused(*(_explained(problem, target) for problem in refused.problems)) from None


def _explained(problem: Problem, target: str) -> Problem:
    if problem.field != "targetUrl" or not is_private_target(target):
        return problem
    return replace(
        problem,
        template="{reason} On your own machine: flask webhook listen --forward-to {target}",
        values={"reason": problem_text(problem), "target": target},
    )
