"""Settings of Kiwi TCMS 12.4 for real.py: the product's own, on Python 3.11, in this study's folder.

Two things differ from the product. django-modern-rpc 0.12.1 imports `inspect.getargspec`, which Python 3.11 no longer
has (it never calls it on Python 3), so the name is put back. And entry points are added for the variants of the study,
in kiwi_variants.py; the product's own are untouched.
"""

import inspect
import os

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec

from tcms.settings.product import *  # noqa: F403

_FOLDER = os.environ["KIWI_FOLDER"]

# The product opens a connection for each request, as Django does by default; KIWI_CONN_MAX_AGE keeps it for that long.
DATABASES["default"]["CONN_MAX_AGE"] = int(os.environ.get("KIWI_CONN_MAX_AGE", "0"))  # noqa: F405
STATIC_ROOT = os.path.join(_FOLDER, "static")
MEDIA_ROOT = os.path.join(_FOLDER, "uploads")
ROOT_URLCONF = "kiwi_variants"
MODERNRPC_METHODS_MODULES.append("kiwi_variants")  # noqa: F405
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"  # nothing leaves this machine
