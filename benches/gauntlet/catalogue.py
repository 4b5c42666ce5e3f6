"""All products of the gauntlet, and which of them no rule may be tuned with."""

from __future__ import annotations

import importlib
from pathlib import Path

from products.product import Product

HERE = Path(__file__).parent / "products"


def every() -> dict[str, Product]:
    """The products by name, in alphabetical order."""
    modules = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in ("__init__", "product"))
    found: list[Product] = [importlib.import_module(f"products.{module}").PRODUCT for module in modules]
    return {product.name: product for product in sorted(found, key=lambda product: product.name)}


# Named before the first run: every third in alphabetical order of the eighteen products chosen, from the first on.
HELD_OUT = frozenset({"caddy", "fuseki", "mediawiki", "pocketbase", "rabbitmq", "verdaccio"})
