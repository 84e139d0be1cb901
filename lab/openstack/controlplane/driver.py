"""The hypervisor of the lab: Nova's FakeDriver, with a size and a behaviour
per host and per guest, node names and ids that stay the same, and guests
that outlive a restart of their nova-compute."""
import time
import uuid

from nova import exception
from nova.compute import power_state
from nova.compute import vm_states
from nova.virt import fake

from controlplane import transfers

DOMAIN = "lab.drover.dev"


def node_name(host):
    """The hypervisor hostname: as with libvirt, not the service's name."""
    return f"{host}.{DOMAIN}"


def node_uuid(node):
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, node))


class LabDriver(fake.FakeDriver):
    """`guests` is the memory of all machines: host -> uuid -> guest."""

    def __init__(self, virtapi, fleet, guests):
        super().__init__(virtapi)
        self._fleet = fleet
        self._guests = guests
        self._transfers = {}
        self._given_traits = set()

    # -- the machine

    def init_host(self, host):
        super().init_host(host)
        self._set_nodes([node_name(host)])
        self.instances = self._guests.setdefault(host, {})
        self.read_profile()

    def read_profile(self):
        profile = self._fleet.profile(self._host)
        self.vcpus = profile["vcpus"]
        self.memory_mb = profile["memoryMiB"]
        self.local_gb = profile["diskGiB"]
        self.resources = fake.Resources(
            self.vcpus, self.memory_mb, self.local_gb)
        self._inventory = profile["inventory"]
        self._traits = profile["traits"]
        self.host_status_base.update(
            hypervisor_type="QEMU",
            hypervisor_version=profile["hypervisorVersion"])

    def get_available_resource(self, nodename):
        resources = super().get_available_resource(nodename)
        if resources:
            resources["uuid"] = node_uuid(nodename)
        return resources

    def get_nodenames_by_uuid(self, refresh=False):
        return {node_uuid(node): node for node in self.get_available_nodes()}

    def update_provider_tree(self, provider_tree, nodename, allocations=None):
        super().update_provider_tree(provider_tree, nodename, allocations)
        inventory = dict(provider_tree.data(nodename).inventory)
        inventory.update({
            name: {"total": total, "min_unit": 1, "max_unit": total,
                   "step_size": 1, "allocation_ratio": 1.0, "reserved": 0}
            for name, total in self._inventory.items()})
        provider_tree.update_inventory(nodename, inventory)
        # traits that others have set stay
        provider_tree.remove_traits(
            nodename, *self._given_traits.difference(self._traits))
        provider_tree.add_traits(nodename, *self._traits)
        self._given_traits = set(self._traits)

    def get_host_uptime(self):
        return " 10:00:00 up 30 days,  1:00,  0 users,  load average: 0, 0, 0"

    def get_console_output(self, context, instance):
        """What a small image with a login prompt shows."""
        return f"Booting...\n{instance.hostname} login: "

    # -- power

    def pause(self, instance):
        self.instances[instance.uuid].state = power_state.PAUSED

    def unpause(self, instance):
        self.instances[instance.uuid].state = power_state.RUNNING

    def suspend(self, context, instance):
        self.instances[instance.uuid].state = power_state.SUSPENDED

    def resume(self, context, instance, network_info, share_info,
               block_device_info=None):
        self.instances[instance.uuid].state = power_state.RUNNING

    def rescue(self, context, instance, *args, **kwargs):
        self.instances[instance.uuid].state = power_state.RUNNING

    def destroy(self, context, instance, *args, **kwargs):
        time.sleep(self._fleet.profile(self._host)["destroySeconds"])
        super().destroy(context, instance, *args, **kwargs)

    # -- leaving and arriving

    def _behaviour(self, instance, source):
        return self._fleet.behaviour(
            instance.uuid, source, instance.metadata or {})

    def check_can_live_migrate_destination(self, context, instance, *args,
                                           **kwargs):
        accepts = self._fleet.profile(self._host)["accept"]
        mode = self._behaviour(instance, instance.host).mode
        if mode == "precheck-dest" or not accepts:
            raise exception.MigrationPreCheckError(
                reason=f"{self._host} refuses {instance.uuid}: "
                       "CPU models do not match")
        return super().check_can_live_migrate_destination(
            context, instance, *args, **kwargs)

    def check_can_live_migrate_source(self, context, instance, *args,
                                      **kwargs):
        if self._behaviour(instance, self._host).mode == "precheck-source":
            raise exception.InvalidSharedStorage(
                path="/var/lib/nova/instances",
                reason="live migration needs shared storage")
        return super().check_can_live_migrate_source(
            context, instance, *args, **kwargs)

    def pre_live_migration(self, context, instance, *args, **kwargs):
        if self._behaviour(instance, instance.host).mode == "prefail":
            raise exception.InternalError(
                f"{self._host} could not prepare for {instance.uuid}")
        return super().pre_live_migration(context, instance, *args, **kwargs)

    def live_migration(self, context, instance, dest, post_method,
                       recover_method, block_migration=False,
                       migrate_data=None):
        end = self._transfer(instance, transfers.save_progress(
            migrate_data.migration, instance.flavor.memory_mb))
        if end == "aborted":
            recover_method(context, instance, dest, migrate_data=migrate_data,
                           migration_status="cancelled")
        elif end == "fail":
            recover_method(context, instance, dest, migrate_data=migrate_data)
        elif end == "error":
            raise exception.MigrationError(
                reason=f"{instance.uuid} was lost on the way")
        else:
            post_method(context, instance, dest, block_migration,
                        migrate_data)

    def post_live_migration(self, context, instance, block_device_info,
                            migrate_data=None):
        super().destroy(context, instance, None)

    def post_live_migration_at_destination(self, context, instance,
                                           *args, **kwargs):
        super().post_live_migration_at_destination(
            context, instance, *args, **kwargs)
        if instance.vm_state == vm_states.PAUSED:
            self.pause(instance)

    def migrate_disk_and_power_off(self, context, instance, *args, **kwargs):
        end = self._transfer(instance)
        if end == "fail":
            raise exception.InstanceFaultRollback(
                exception.ResizeError(reason="the disk could not be copied"))
        if end == "error":
            raise exception.MigrationError(
                reason=f"the disk of {instance.uuid} was lost on the way")
        return super().migrate_disk_and_power_off(
            context, instance, *args, **kwargs)

    def _transfer(self, instance, on_progress=None):
        transfer = transfers.Transfer(
            lambda: self._behaviour(instance, self._host))
        self._transfers[instance.uuid] = transfer
        try:
            return transfer.run(on_progress)
        finally:
            self._transfers.pop(instance.uuid, None)

    def live_migration_abort(self, instance):
        if instance.uuid in self._transfers:
            self._transfers[instance.uuid].abort()

    def live_migration_force_complete(self, instance):
        if instance.uuid in self._transfers:
            self._transfers[instance.uuid].force_complete()

    def crash(self):
        """Everything under way here ends without a trace."""
        for transfer in list(self._transfers.values()):
            transfer.crash()
