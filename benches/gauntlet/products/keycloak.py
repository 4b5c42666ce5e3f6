"""Keycloak: sign-in and tokens for other applications, on PostgreSQL. Java, from Maven Central."""

from __future__ import annotations

import json
import zipfile
from contextlib import contextmanager
from pathlib import Path

from postgresql_server import PostgresqlServer
from processes import await_answer, done, on_target_cores, running
from registries import Cache

from plimsoll_lab.ports import free_port
from products.product import Product, Started

VERSION = "26.0.8"
USERS = 60


def install(cache: Cache) -> None:
    file = cache.maven("org.keycloak", "keycloak-quarkus-dist", VERSION, "zip")
    home = file.with_name(f"keycloak-{VERSION}")
    if not (home / ".complete").exists():
        with zipfile.ZipFile(file) as archive:
            archive.extractall(file.parent)
        (home / "bin" / "kc.sh").chmod(0o755)
        done([home / "bin" / "kc.sh", "build", "--db=postgres", "--health-enabled=true"], cache.logs / "keycloak.log")
        (home / ".complete").touch()


@contextmanager
def stands(cache: Cache, folder: Path) -> Started:
    home = cache.folder / "maven" / f"keycloak-{VERSION}"
    port, management, log = free_port(), free_port(), folder / "keycloak.log"
    realm = folder / "shop.json"
    realm.write_text(json.dumps(realm_of()))
    with on_target_cores(PostgresqlServer(preload="")) as database:
        env = {
            "KC_DB_URL": f"jdbc:postgresql://127.0.0.1:{database.port}/postgres", "KC_DB_USERNAME": "plimsoll",
            "KC_DB_PASSWORD": "any", "KC_CACHE": "local", "JAVA_OPTS_KC_HEAP": "-Xms512m -Xmx1g",
        }  # fmt: skip
        done([home / "bin" / "kc.sh", "import", "--optimized", "--file", realm], log, env=env)
        flags = ["--http-enabled=true", f"--http-port={port}", "--http-host=127.0.0.1", "--hostname-strict=false"]
        command = [home / "bin" / "kc.sh", "start", "--optimized", *flags, f"--http-management-port={management}"]
        with running(command, log, env=env) as process:
            await_answer(f"http://127.0.0.1:{port}/realms/shop", process, log)
            yield {"BASE_URL": f"http://127.0.0.1:{port}"}


def realm_of() -> dict[str, object]:
    """A realm with a public client and users with passwords."""
    users = [
        {
            "username": f"user{number}", "enabled": True, "email": f"user{number}@example.org", "emailVerified": True,
            "firstName": "User", "lastName": str(number), "realmRoles": ["offline_access"],
            "credentials": [{"type": "password", "value": f"secret{number}"}],
        }
        for number in range(USERS)
    ]  # fmt: skip
    client = {
        "clientId": "shop", "publicClient": True, "directAccessGrantsEnabled": True, "enabled": True,
        "redirectUris": ["http://127.0.0.1/*"],
    }  # fmt: skip
    hashing = "hashAlgorithm(pbkdf2-sha256) and hashIterations(27500)"
    return {"realm": "shop", "enabled": True, "passwordPolicy": hashing, "clients": [client], "users": users}


PRODUCT = Product(
    "keycloak", "Java", "Keycloak, PostgreSQL", f"Maven Central keycloak-quarkus-dist {VERSION}", install, stands,
    "/realms/shop",
)  # fmt: skip
