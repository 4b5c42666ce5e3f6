"""Caddy: a web server that renders Markdown templates and compresses. Go, from the Go module proxy."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from processes import await_answer, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

MODULE = ("caddy", "github.com/caddyserver/caddy/v2", "v2.11.9", "github.com/caddyserver/caddy/v2/cmd/caddy")
PAGE = """<!doctype html><title>Docs</title>{{$page := printf "chapter-%s.md" (.Req.URL.Query.Get "chapter")}}
{{markdown (include $page)}}<footer>{{now | date "2006-01-02"}}</footer>"""


def install(cache: Cache) -> None:
    cache.go(*MODULE)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    for number in range(40):
        parts = (f"## Part {k}\n\nSome *words* on `topic {k}`.\n\n- one\n- two\n\n" + "Text. " * 60 for k in range(12))
        (site / f"chapter-{number}.md").write_text(f"# Chapter {number}\n\n" + "\n\n".join(parts))
    port, log = free_port(), folder / "caddy.log"
    configuration = folder / "Caddyfile"
    configuration.write_text(
        f"{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n root * {site}\n encode gzip\n templates\n"
        " file_server browse\n}\n"
    )
    env = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [cache.go(*MODULE), "run", "--config", configuration, "--adapter", "caddyfile"]
    with running(command, log, env) as process:
        await_answer(f"http://127.0.0.1:{port}/?chapter=1", process, log)
        yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product("caddy", "Go", "Caddy, files", "Go module proxy, caddy 2.11.9", install, stands, "/chapter-1.md")
