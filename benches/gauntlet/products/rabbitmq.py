"""RabbitMQ by its management API: publish, take and look at queues over HTTP. Erlang, from Debian."""

from __future__ import annotations

import json
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

QUEUES = 20
BASIC = "Basic Z3Vlc3Q6Z3Vlc3Q="  # guest:guest, which RabbitMQ takes from this host alone


def install(cache: Cache) -> None:
    cache.debian("rabbitmq-server")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    port, amqp, distribution, mapper = (free_port() for _ in range(4))
    log = folder / "rabbitmq.log"
    configuration = folder / "rabbitmq.conf"
    configuration.write_text(
        f"listeners.tcp.1 = 127.0.0.1:{amqp}\nmanagement.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {port}\n"
        "log.console = true\nlog.console.level = error\n"
    )
    (folder / "plugins").write_text("[rabbitmq_management].\n")
    (folder / ".erlang.cookie").write_text("ONLYFORTHEBENCH")
    (folder / ".erlang.cookie").chmod(0o400)
    server = next(iter(sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server"))))
    env = {
        "RABBITMQ_MNESIA_BASE": str(folder), "RABBITMQ_LOG_BASE": str(folder), "RABBITMQ_LOGS": "-",
        "RABBITMQ_CONFIG_FILE": str(configuration), "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_NODENAME": f"bench{port}@localhost", "RABBITMQ_DIST_PORT": str(distribution), "HOME": str(folder),
        "ERL_EPMD_PORT": str(mapper), "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_CONF_ENV_FILE": "/dev/null",
    }  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with running(["epmd", "-port", mapper, "-address", "127.0.0.1"], log), running([server], log, env) as process:
        await_answer(f"{url}/api/overview", process, log)
        for number in range(QUEUES):
            call(f"{url}/api/queues/%2F/orders-{number}", {"durable": False}, "PUT")
        yield {"BASE_URL": url}


def call(url: str, body: dict[str, object], method: str) -> None:
    """A request with a body of JSON."""
    headers = {"Content-Type": "application/json", "Authorization": BASIC}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method=method)
    urllib.request.urlopen(request, timeout=30).close()


PRODUCT = Product("rabbitmq", "Erlang", "RabbitMQ, its management API", "Debian rabbitmq-server 3.10", install, stands)
