"""What the two Django servers share: a site in a temporary database with the user ada."""

import secrets
import tempfile

import django
from django.conf import settings
from django.core.management import call_command

PASSWORD = "interop"


def configure(apps, **more):
    """Configures Django, creates the tables and the user. Models can be imported afterwards."""
    folder = tempfile.TemporaryDirectory(prefix="martlet-interop-")
    database = {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": f"{folder.name}/db.sqlite3",
        # Writers wait for each other instead of failing.
        "OPTIONS": {"timeout": 30, "transaction_mode": "IMMEDIATE", "init_command": "PRAGMA journal_mode=WAL"},
    }
    settings.configure(
        SECRET_KEY=secrets.token_hex(32), ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF="__main__", USE_TZ=True,
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", *apps],
        DATABASES={"default": database}, DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"], **more)
    django.setup()
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User

    return folder, User.objects.create_user("ada", password=PASSWORD)
