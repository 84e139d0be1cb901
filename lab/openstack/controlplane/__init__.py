"""A real OpenStack control plane for tests, on one machine and loopback.

Two processes: `edge` (Keystone, Placement and stand-ins for Glance and
Neutron) and `nova` (API, conductor, scheduler and a nova-compute service
per host of the fleet). The services are upstream's own code; only the
hypervisor, the image service, the network service and the message bus are
not real.
"""
