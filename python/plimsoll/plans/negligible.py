"""Whether a run can tell that its operations are negligible, so that it is told before the load."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.plans.load import Plan

FLAG = "--negligible-below"


def check_negligible(plan: Plan) -> None:
    """Raises InputError where the load has no rates or no expected one."""
    below = plan.negligible_below
    if below is None:
        return
    if not plan.is_open:
        what = f"{FLAG}: this load has no arrival rate, its users wait for their answers"
        raise InputError(what, "Give the operations rates (model: open), or leave it out.")
    if plan.unit == "users" and plan.expected_users is None:
        what = f"{FLAG}: the study does not say how many users are expected"
        raise InputError(what, "Add expected_users to it.")
