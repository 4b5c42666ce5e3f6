"""Wagtail: a Django site that editors fill, by gunicorn on PostgreSQL. Python, from PyPI."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from postgresql_server import PostgresqlServer
from processes import await_answer, done, on_target_cores, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

PACKAGES = ("wagtail==8.0.1", "gunicorn", "psycopg[binary]")
SETTINGS = """
from .base import *
DEBUG = False
SECRET_KEY = "only for the bench"
ALLOWED_HOSTS = ["*"]
DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "plimsoll",
  "HOST": "127.0.0.1", "PORT": "%s", "CONN_MAX_AGE": 60}}
STORAGES = {"default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
  "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
"""
MODELS = """
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page
from wagtail.search import index


class HomePage(Page):
    pass


class ArticlePage(Page):
    body = RichTextField()
    content_panels = Page.content_panels + [FieldPanel("body")]
    search_fields = Page.search_fields + [index.SearchField("body")]
"""
LIST = """{% load wagtailcore_tags %}<h1>{{ page.title }}</h1><ul>{% for child in page.get_children.live.specific %}
<li><a href="{% pageurl child %}">{{ child.title }}</a></li>{% endfor %}</ul>"""
ARTICLE = """{% load wagtailcore_tags %}<h1>{{ page.title }}</h1>{{ page.body|richtext }}
<nav>{% for above in page.get_ancestors %}<a href="{% pageurl above %}">{{ above.title }}</a>{% endfor %}</nav>"""
SEED = """
from home.models import ArticlePage, HomePage
root = HomePage.objects.first()
for number in range(40):
    body = "".join(f"<p>Paragraph {k} about the harbour. " + "Words " * 40 + "</p>" for k in range(8))
    page = ArticlePage(title=f"Article {number}", slug=f"article-{number}", body=body, show_in_menus=number < 8)
    root.add_child(instance=page)
"""


def install(cache: Cache) -> None:
    cache.debian("postgresql")
    cache.python("wagtail", *PACKAGES)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    programs, port, log = cache.python("wagtail", *PACKAGES), free_port(), folder / "wagtail.log"
    with on_target_cores(PostgresqlServer(preload="")) as database:
        site = folder / "harbour"
        site.mkdir()
        done([programs / "wagtail", "start", "harbour", site], log)
        (site / "harbour" / "settings" / "bench.py").write_text(SETTINGS % database.port)
        (site / "home" / "models.py").write_text(MODELS)
        for name, text in (("home_page", LIST), ("article_page", ARTICLE)):
            (site / "home" / "templates" / "home" / f"{name}.html").write_text(text)
        env = {"DJANGO_SETTINGS_MODULE": "harbour.settings.bench"}
        manage = [programs / "python", "manage.py"]
        done([*manage, "makemigrations", "home"], log, env, site)
        done([*manage, "migrate"], log, env, site)
        done([*manage, "shell", "-c", SEED], log, env, site)
        command = [programs / "gunicorn", "-w", "3", "-b", f"127.0.0.1:{port}", "harbour.wsgi"]
        with running(command, log, env, site) as process:
            await_answer(f"http://127.0.0.1:{port}/", process, log)
            yield {"BASE_URL": f"http://127.0.0.1:{port}"}


PRODUCT = Product("wagtail", "Python", "Wagtail, gunicorn, PostgreSQL", "PyPI wagtail 8.0.1", install, stands)
