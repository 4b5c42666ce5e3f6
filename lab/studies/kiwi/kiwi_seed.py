"""Run by real.py in `django-admin shell`, once: the load's user, and cases and runs for the read APIs.

Cases and runs have the numbers 1 … KIWI_CASES, which `pk__lte` of kiwi.js relies on. They are written in bulk, without
history, which the read APIs do not touch.
"""

import os
import random

from django.contrib.auth import get_user_model
from django.core.management.color import no_style
from django.db import connection
from tcms.management.models import Build, Classification, Priority, Product, Version
from tcms.testcases.models import Category, TestCase, TestCaseStatus
from tcms.testplans.models import PlanType, TestPlan
from tcms.testruns.models import TestRun

user = get_user_model().objects.create_superuser("load", "load@example.com", os.environ["KIWI_PASSWORD"])
product = Product.objects.create(name="Seeded", classification=Classification.objects.create(name="Lab"))
version = Version.objects.create(product=product, value="1.0")
build = Build.objects.create(name="1.0-1", version=version)
kind = PlanType.objects.get(pk=7)
plan = TestPlan.objects.create(name="Seeded", product=product, product_version=version, author=user, type=kind)
words = ("build", "case", "check", "fails", "first", "late", "login", "lost", "page", "plan", "reset", "run", "search")
source = random.Random(1)
category = Category.objects.filter(product=product).first()
confirmed = TestCaseStatus.objects.filter(is_confirmed=True).first()
priorities = list(Priority.objects.all())
count = int(os.environ["KIWI_CASES"])
TestCase.objects.bulk_create(
    [
        TestCase(
            pk=number,
            summary=f"Case {number}: {' '.join(source.choices(words, k=8))}",
            text=" ".join(source.choices(words, k=15)),
            category=category,
            case_status=confirmed,
            priority=source.choice(priorities),
            author=user,
        )
        for number in range(1, count + 1)
    ],
    batch_size=1000,
)
TestRun.objects.bulk_create(
    [
        TestRun(
            pk=number,
            summary=f"Run {number}: {' '.join(source.choices(words, k=5))}",
            plan=plan,
            build=build,
            manager=user,
            default_tester=user,
        )
        for number in range(1, count + 1)
    ],
    batch_size=1000,
)
with connection.cursor() as cursor:  # the numbers go on after those given here
    for statement in connection.ops.sequence_reset_sql(no_style(), [TestCase, TestRun]):
        cursor.execute(statement)
