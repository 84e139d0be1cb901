"""Follows every migration record of Nova: counts attempts and writes each
change of status to the journal the moment it is in the database."""
from nova.objects import migration as nova_migration

from controlplane import journal


def follow(fleet, entries):
    """Call once, before the compute services start."""
    record_class = nova_migration.Migration
    create, save = record_class.create, record_class.save

    def create_and_tell(self):
        # before: the hypervisor may act as soon as the record is there
        if self.migration_type != "evacuation":
            fleet.attempt_started(self.instance_uuid)
        create(self)
        _tell(self, entries)

    def save_and_tell(self):
        changed = "status" in self.obj_what_changed()
        save(self)
        if changed:
            _tell(self, entries)

    record_class.create = create_and_tell
    record_class.save = save_and_tell


def _tell(migration, entries):
    entries.write(
        timeMs=journal.now_ms(),
        migration=migration.uuid,
        id=migration.id,
        instance=migration.instance_uuid,
        type=migration.migration_type,
        status=migration.status,
        source=migration.source_compute,
        dest=migration.dest_compute)
