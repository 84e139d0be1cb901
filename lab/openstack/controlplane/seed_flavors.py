"""Fills the template's nova_api database with the flavors of the lab.

usage: python -m controlplane.seed_flavors <settings.json>
"""
import sys

from nova import config
from nova import context
from nova import objects

from controlplane.settings import Settings

# name (and id), vCPUs, memory in MiB, root disk in GiB, extra specs
FLAVORS = (
    ("lab.tiny", 1, 512, 1, {}),
    ("lab.small", 1, 2048, 10, {}),
    ("lab.medium", 2, 4096, 20, {}),
    ("lab.large", 4, 8192, 40, {}),
    # two of them do not fit on one host of the default size
    ("lab.huge", 60, 200000, 100, {}),
    # go only where a test has put the trait or the inventory
    ("lab.trait", 1, 512, 1, {"trait:CUSTOM_LAB": "required"}),
    ("lab.vgpu", 1, 512, 1, {"resources:VGPU": "1"}),
)


def main():
    settings = Settings.read(sys.argv[1])
    config.parse_args(
        ["seed-flavors", "--config-file",
         str(settings.path("etc", "nova.conf"))])
    objects.register_all()
    admin = context.get_admin_context()
    for name, vcpus, memory_mib, root_gib, extra_specs in FLAVORS:
        objects.Flavor(
            admin, name=name, flavorid=name, vcpus=vcpus,
            memory_mb=memory_mib, root_gb=root_gib, ephemeral_gb=0, swap=0,
            rxtx_factor=1.0, is_public=True, disabled=False,
            extra_specs=extra_specs).create()


if __name__ == "__main__":
    main()
