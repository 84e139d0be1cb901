"""Starts and crashes the nova-compute services, one per host of the fleet."""
import threading

from nova import context as nova_context
from nova import objects
from nova import service
from nova.compute import manager as compute_manager
from nova.compute import rpcapi as compute_rpcapi
from nova.objects import host_mapping
from nova.virt import driver as virt_driver
from nova.virt import fake

from controlplane import current_host
from controlplane.driver import LabDriver
from controlplane.fleet import BadRequest


class ComputeHosts:

    def __init__(self, fleet):
        self._fleet = fleet
        self._services = {}
        self._guests = {}
        self._lock = threading.RLock()
        self._replace_parts_of_nova()

    def _replace_parts_of_nova(self):
        # compute_driver can only name drivers below nova.virt
        virt_driver.load_compute_driver = (
            lambda virtapi, compute_driver=None:
            LabDriver(virtapi, self._fleet, self._guests))
        # compares with one id file per machine; here all hosts share it,
        # and LabDriver's ids never change
        compute_manager.ComputeManager._ensure_existing_node_identity = (
            lambda manager, service_ref: None)

    def start_all(self):
        for host in self._fleet.names():
            self._start(host)
        self._map_hosts()

    def start(self, host, with_guests=True):
        with self._lock:
            if host in self._services:
                raise BadRequest(f"{host} is running already")
            if not with_guests:
                self._guests.setdefault(host, {}).clear()
            self._start(host)
        self._map_hosts()

    def crash(self, host):
        """No answers and no heartbeats any more, and no farewell."""
        with self._lock:
            if host not in self._services:
                raise BadRequest(f"{host} is not running")
            crashed = self._services.pop(host)
        self._stop(crashed)

    @staticmethod
    def _stop(compute):
        compute.manager.driver.crash()
        compute.tg.stop()
        for server in (compute.rpcserver, compute.rpcserver_alt):
            if server is not None:
                server.stop()

    def reset(self):
        """Starts what has crashed and reads every profile anew."""
        for host in self._fleet.names():
            if self.is_running(host):
                self.profile_changed(host)
            else:
                self.start(host)

    def profile_changed(self, host):
        """Reports a new size, inventory or trait to Nova and Placement."""
        running = self._services.get(host)
        if running:
            with current_host.acting_as(host):
                running.manager.driver.read_profile()
                running.manager.update_available_resource(
                    nova_context.get_admin_context())

    def is_running(self, host):
        return host in self._services

    def guest_count(self, host):
        return len(self._guests.get(host, {}))

    def _start(self, host):
        with self._lock, current_host.acting_as(host):
            if host not in self._guests:
                self._adopt_guests(host)
            compute = service.Service.create(
                host=host, binary="nova-compute",
                topic=compute_rpcapi.RPC_TOPIC,
                topic_alt=compute_rpcapi.RPC_TOPIC_ALT)
            # the default is one client, with one cache, for the process
            reports = compute.manager.reportclient
            compute.manager.rt.reportclient = reports
            # asked for one by one after every move, for drivers that move
            # allocations between providers; this one never does
            reports.get_allocations_for_provider_tree = (
                lambda context, nodename: {})
            try:
                compute.start()
                for server in (compute.rpcserver, compute.rpcserver_alt):
                    server.dispatcher.dispatch = current_host.bound_to(
                        host, server.dispatcher.dispatch)
                report_now(compute)
            except Exception:
                # Nova may let the service go while it starts: what had
                # begun would answer beside the next one
                self._stop(compute)
                raise
            self._services[host] = compute

    def _adopt_guests(self, host):
        """The machine ran these guests before this process began."""
        guests = objects.InstanceList.get_by_host(
            nova_context.get_admin_context(), host)
        self._guests[host] = {
            guest.uuid: fake.FakeInstance(
                guest.name, guest.power_state, guest.uuid)
            for guest in guests}

    @staticmethod
    def _map_hosts():
        host_mapping.discover_hosts(nova_context.get_admin_context())


def report_now(running):
    """A service is down until its first report; do not wait for that."""
    running.service_ref.report_count += 1
    running.service_ref.save()
