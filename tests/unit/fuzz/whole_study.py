"""A study with an entry of each kind, of which a fuzz changes parts."""

from __future__ import annotations

from typing import Any

STUDY: dict[str, Any] = {
    "name": "all",
    "target": {
        "url": "http://127.0.0.1:9",
        "start": "true",
        "ready": "/health",
        "reset": "true",
        "stop": "true",
        "variants": {"old": {"switch": "true"}, "new": {"url": "http://127.0.0.1:8"}},
        "data_volume": "/status#issues.total",
        "environment": {"PORT": 8080, "TOKEN": "${X}"},
        "processes": [{"label": "app", "port": 9}, {"label": "db", "name": "postgres"}],
        "time_limits": {"ready_s": 1, "stop_s": 2.5},
    },
    "workload": {
        "script": "script.js",
        "env": {"A": 1},
        "arrivals": "even",
        "operations": [
            {"name": "view", "exec": "default", "per_user_hour": 30},
            {"name": "create", "exec": "create", "per_user_hour": 1.5},
        ],
    },
    "expected_users": 200,
    "objectives": [{"objective": "p90<=500ms"}, {"operation": "view", "objective": "error_rate<=1%"}],
    "probes": {
        "prometheus": [{"label": "app", "url": "http://127.0.0.1:9/metrics", "headers": {"Authorization": "Bearer x"}}],
        "telemetry": [{"url": "http://127.0.0.1:9/telemetry", "every_s": 2}],
        "otlp": {"port": None, "every_s": 10},
        "logs": [{"label": "app", "files": ["app.log"], "patterns": {"slow": "took (?P<ms>[0-9]+) ms"}}],
        "files": [{"label": "data", "path": "data"}],
        "postgresql": [{"label": "db", "dsn": "env:SHOP_DSN"}],
        "mysql": [{"label": "my", "dsn": "env:SHOP_DSN"}],
        "jvm": [{"url": "http://127.0.0.1:9/jolokia"}],
        "profile": [{"label": "go", "url": "http://127.0.0.1:9/debug/pprof/profile"}],
    },
    "experiments": [
        {"capacity": {"width": 0.1, "step_s": 5, "max_users": 1000, "budgets": {"cpu": 0.8}, "cores": 4, "for": "5m"}},
        {"hold": {"users": 20, "keep": "p95<=300ms", "duration_s": "2m", "warm_up_s": 1, "memory_limit_mb": 100}},
        {"grow": {"items": 300, "max_users": 2, "allowed_failures": 0.1}},
        {"compare": {"a": "old", "b": "new", "pairs": 2, "margin": 0.1, "primary": ["p50"], "users": [1, 2]}},
        {"decompose": {"variants": {"whole": "old", "less": "new"}, "rounds": 2}},
        {"sweep": {"over": {"R": [1, 2], "users": [1, 2]}, "repeats": 2}},
        {"drain": {"backlog": "size:data", "index_budget_mb": 10, "drain_s": 5, "users": 3}},
        "capacity",
    ],
    "cannot_decide": ["much"],
    "seed": 3,
}
