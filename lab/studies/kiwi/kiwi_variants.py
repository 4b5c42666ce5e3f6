"""The other variants of the report's work inside Kiwi TCMS, under the paths of the lab: kiwi.js runs on both.

`POST /orm/work?size=R` does by the ORM, in one request, what 10 + 3R + 2R² calls do (the report's perf-script-orm).
`Static.answer(method)` is a method of the same RPC that answers from memory, at about the size of that method's.
`GET /healthz` and `GET /volume` are for the study: is it there, and how many cases, runs and executions it holds.
"""

import uuid

from django.http import JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from modernrpc.core import rpc_method
from tcms.management.models import Build, Classification, Priority, Product, Version
from tcms.testcases.models import Category, TestCase, TestCaseStatus
from tcms.testplans.models import PlanType, TestPlan
from tcms.testruns.models import TestExecution, TestExecutionStatus, TestRun
from tcms.urls import *  # noqa: F403
from tcms.urls import urlpatterns as _product_paths

MOST_CASES = 100

_EXECUTION = {
    "id": 1000000, "assignee": 1, "tested_by": None, "case_text_version": 100000, "start_date": None, "stop_date": None,
    "sortkey": 1000, "run": 100000, "case": 100000, "status": 1, "build": 10000,
}  # fmt: skip
_UPDATED = {
    **_EXECUTION, "tested_by": 1, "assignee__username": "load", "tested_by__username": "load",
    "case__summary": "Case 10 of 1735689600000-1-0-123456789", "build__name": "b.1735689600000-1-0-123456789",
    "status__name": "PASSED",
}  # fmt: skip
_CASE = {
    "id": 100000, "is_automated": False, "script": None, "arguments": None, "extra_link": None,
    "summary": "Case 10 of 1735689600000-1-0-123456789", "requirement": None, "notes": "", "text": "",
    "case_status": 2, "category": 10000, "priority": 1, "author": 1, "default_tester": None, "reviewer": None,
    "setup_duration": None, "testing_duration": None, "create_date": "2025-01-01T00:00:00.000",
}  # fmt: skip
_OTHER = {"id": 10000, "name": "Product 1735689600000-1-0-123456789", "description": None, "classification": 1}
_STATIC = {
    "TestRun.add_case": [{**_EXECUTION, "properties": []}],
    "TestExecution.update": _UPDATED,
    "TestCase.create": _CASE,
    "TestPlan.add_case": {**_CASE, "sortkey": 1000},
}


@rpc_method(name="Static.answer")
def static_answer(method):
    """An answer as that method gives it, of the same size."""
    answer = _STATIC.get(method, _OTHER)
    return [dict(one) for one in answer] if isinstance(answer, list) else dict(answer)  # the handler escapes in place


def healthz(_request):
    return JsonResponse({"status": "ok"})


def volume(_request):
    models = {"cases": TestCase, "runs": TestRun, "executions": TestExecution}
    return JsonResponse({name: model.objects.count() for name, model in models.items()})


@csrf_exempt
def orm_work(request):
    size = request.GET.get("size", "")
    if not request.user.is_authenticated:
        return JsonResponse({"error": "Log in first: Auth.login, then send the cookie sessionid."}, status=403)
    if not size.isascii() or not size.isdigit() or len(size) > 5 or not 1 <= int(size) <= MOST_CASES:
        return JsonResponse({"error": f"'size' must be a whole number from 1 to {MOST_CASES}."}, status=400)
    return JsonResponse({"calls": work_by_orm(request.user, int(size))})


def work_by_orm(user, size):
    """A plan of `size` cases, `size` runs with all of them, a result for each; the number of calls it stands for."""
    name = uuid.uuid4().hex
    product = Product.objects.create(name=name, classification=Classification.objects.first())
    version = Version.objects.create(product=product, value=name)
    plan = TestPlan.objects.create(
        name=name,
        text="Created by a load script",
        type=PlanType.objects.get(pk=7),
        product=product,
        product_version=version,
        is_active=True,
        author=user,
    )
    shared = {
        "category": Category.objects.filter(product=product).first(),
        "priority": Priority.objects.first(),
        "case_status": TestCaseStatus.objects.filter(is_confirmed=True).first(),
        "author": user,
    }
    cases = []
    for number in range(size):
        cases.append(TestCase.objects.create(summary=f"Case {number} of {name}", **shared))
        plan.add_case(cases[-1])
    passed = TestExecutionStatus.objects.filter(weight__gt=0).first()
    build = Build.objects.create(name=name, version=version)
    for number in range(size):
        run = TestRun.objects.create(summary=f"TR {number} {name}", manager=user, plan=plan, build=build)
        for place, case in enumerate(cases, start=1):
            for execution in run.create_execution(case=case, sortkey=10 * place):
                execution.status = passed
                execution.save()
    return 10 + 3 * size + 2 * size * size


urlpatterns = [
    path("healthz", healthz),
    path("volume", volume),
    path("orm/work", orm_work),
    *_product_paths,
]
