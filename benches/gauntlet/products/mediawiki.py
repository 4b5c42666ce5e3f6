"""MediaWiki: a wiki behind nginx and php-fpm, on MariaDB. PHP, from Debian."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

from mariadb_server import MariadbServer
from processes import await_answer, done, on_target_cores, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

HOME = Path("/usr/share/mediawiki")
PACKAGES = (
    "mediawiki", "nginx-light", "php-fpm", "php-cli", "php-mysql", "php-intl", "php-xml", "php-mbstring", "php-apcu",
    "mariadb-server",
)  # fmt: skip
PAGES = 60
FPM = """[global]
error_log = {folder}/fpm-errors.log
daemonize = no
[wiki]
user = www-data
group = www-data
listen = {folder}/fpm.sock
listen.mode = 0666
listen.backlog = 64
pm = static
pm.max_children = 6
env[MW_CONFIG_FILE] = {folder}/config/LocalSettings.php
"""
NGINX = """daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx-errors.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  include /etc/nginx/mime.types;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port};
    root /usr/share/mediawiki;
    index index.php;
    location ~ \\.php$ {{
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
      fastcgi_pass unix:{folder}/fpm.sock;
    }}
  }}
}}
"""


def install(cache: Cache) -> None:
    cache.debian(*PACKAGES)


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    port, log = free_port(), folder / "mediawiki.log"
    fpm = next(iter(sorted(Path("/usr/sbin").glob("php-fpm*"))))
    with on_target_cores(MariadbServer("--skip-grant-tables", measures=False)) as database:
        configured(folder, port, database.port, log)
        (folder / "fpm.conf").write_text(FPM.format(folder=folder))
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        with (
            running([fpm, "-F", "-y", folder / "fpm.conf"], log),
            running(["/usr/sbin/nginx", "-c", folder / "nginx.conf"], log) as process,
        ):
            await_answer(f"http://127.0.0.1:{port}/index.php?title=Page_1", process, log)
            yield {"BASE_URL": f"http://127.0.0.1:{port}"}


def configured(folder: Path, port: int, database_port: int, log: Path) -> None:
    """A wiki with pages that link to each other."""
    settings, pages = folder / "config", folder / "pages"
    settings.mkdir()
    pages.mkdir()
    done(
        [
            "php", HOME / "maintenance" / "install.php", "--dbtype", "mysql",
            "--dbserver", f"127.0.0.1:{database_port}", "--dbname", "wiki", "--dbuser", "root", "--dbpass", "",
            "--server", f"http://127.0.0.1:{port}",
            "--scriptpath", "", "--pass", "only for the bench", "--confpath", settings, "Harbour wiki", "Admin",
        ],
        log, folder=HOME,
    )  # fmt: skip
    with (settings / "LocalSettings.php").open("a") as file:
        file.write("\n$wgMainCacheType = CACHE_ACCEL;\n$wgJobRunRate = 0;\n$wgShowExceptionDetails = true;\n")
        file.write(f"$wgCacheDirectory = '{folder}/cache';\n")
    for name in ("cache",):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    for number in range(PAGES):
        links = " ".join(f"[[Page {number * k % PAGES}]]" for k in range(2, 8))
        parts = "".join(f"== Part {k} ==\n'''Words''' on the topic. " + "Text. " * 60 + "\n" for k in range(6))
        (pages / f"Page_{number}.txt").write_text(f"{links}\n{parts}")
    env = {"MW_CONFIG_FILE": str(settings / "LocalSettings.php")}
    done(["php", HOME / "maintenance" / "importTextFiles.php", *sorted(pages.glob("*.txt"))], log, env, HOME)


PRODUCT = Product(
    "mediawiki", "PHP", "MediaWiki, nginx, php-fpm, MariaDB", "Debian mediawiki 1.39", install, stands,
    "/resources/assets/licenses/public-domain.png", think_s=0.3,
)  # fmt: skip
