"""Redmine: projects and issues, by puma on PostgreSQL. Ruby, from Debian."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from postgresql_server import PostgresqlServer, own_database
from processes import await_answer, done, on_target_cores, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

HOME = Path("/usr/share/redmine")
GEMFILE = """
eval_gemfile '/usr/share/redmine/Gemfile'
gem 'pg'
gem 'puma'
"""
SEED = """
Setting.rest_api_enabled = 1
Setting.default_language = 'en'
status, priority, tracker = IssueStatus.first, IssuePriority.first, Tracker.first
author = User.where(admin: true).first
project = Project.create!(name: 'Harbour', identifier: 'harbour', is_public: true, trackers: Tracker.all.to_a)
300.times do |n|
  issue = Issue.new(project: project, tracker: tracker, author: author, status: status, priority: priority,
    subject: "Crane #{n} is stuck", description: 'It does not move. ' * 30)
  issue.save!(validate: false)
end
"""


def install(cache: Cache) -> None:
    cache.debian("postgresql", "redmine", "redmine-sqlite", "redmine-pgsql", "puma")


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    port, log = free_port(), folder / "redmine.log"
    with on_target_cores(PostgresqlServer(preload="")) as database:
        url = own_database(database.dsn(), "redmine")
        bundle = folder / "Gemfile"
        bundle.write_text(GEMFILE)
        env = {
            "BUNDLE_GEMFILE": str(bundle),
            "DATABASE_URL": url, "RAILS_ENV": "production", "REDMINE_LANG": "en", "SECRET_KEY_BASE": "0" * 64,
            "RAILS_LOG_TO_STDOUT": "1", "SCHEMA": str(folder / "schema.rb"), "LANG": "C.UTF-8",
        }  # fmt: skip
        seed = folder / "seed.rb"
        seed.write_text(SEED)
        for task in ("db:migrate", "redmine:load_default_data"):
            done(["rake", task], log, env, HOME)
        done(["ruby", "bin/rails", "runner", seed], log, env, HOME)
        command = ["puma", "-e", "production", "-t", "5:5", "-b", f"tcp://127.0.0.1:{port}", "config.ru"]
        with running(command, log, env, HOME) as process:
            await_answer(f"http://127.0.0.1:{port}/projects/harbour", process, log)
            yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product("redmine", "Ruby", "Redmine, puma, PostgreSQL", "Debian redmine 5.0", install, stands, "/robots.txt")
