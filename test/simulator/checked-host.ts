import type { CheckedHost } from '../flows/checked-host.ts';
import type { Deployment } from './deployment.ts';

const address = '192.0.2.11';
const cephUser = 'libvirt';
const tls = { caFile: 'ca.pem', certFile: 'client.pem', keyFile: 'client.key' };

/** The host's libvirt, Open vSwitch and Ceph, in the simulation. */
export function openCheckedHost({ hosts, openstack }: Deployment, name: string): CheckedHost {
  const host = hosts.add({ name, address });
  const { ceph, cephSettings } = hosts;
  const key = Buffer.from('the key of a client of Ceph’s').toString('base64');
  ceph.clients.set(cephUser, key);
  hosts.files.set('ceph.key', key);
  return {
    address,
    settings: {
      libvirt: { connectUri: 'qemu+tls://{host}/system', tls, minimumVersion: '8.0.0' },
      ovs: { remote: 'ssl:{host}:6640', tls },
      ceph: {
        dashboards: cephSettings.dashboards,
        user: cephSettings.user,
        passwordFile: 'ceph-password',
        pools: cephSettings.pools,
        rbd: { monitors: [`${ceph.monitor.host}:${ceph.monitor.port}`], user: cephUser, keyFile: 'ceph.key' },
      },
      smoke: { flavorId: 'lab.tiny', imageId: openstack?.model.imageId, console: 'hostname' },
    },
    setBridges: (bridges) => Promise.resolve(host.ovs.setBridges(bridges)),
    close: () => Promise.resolve(),
  };
}
