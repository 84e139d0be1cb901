"""Fernet key repositories: files named by index, 0 being the staged key.

keystone-manage would make them as well, but insists on changing the owner.
"""
from cryptography.fernet import Fernet


def write(settings):
    """Makes the token and credential keys of the lab, unless it has them."""
    for purpose in ("fernet", "credential"):
        folder = settings.path("keys", purpose)
        folder.mkdir(parents=True, exist_ok=True)
        for index in ("0", "1"):
            if not (folder / index).exists():
                (folder / index).write_bytes(Fernet.generate_key())
