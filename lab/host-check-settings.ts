import type { OpenStackHandle } from './openstack/handle.ts';
import type { Handles } from './parts.ts';

/** The counterparts of a host's checks that a lab has. */
export type CheckedParts = Partial<Pick<Handles, 'libvirt' | 'ovs' | 'ceph'>>;

/**
 * The settings of the checks that can be made on the host, as in the section `hypervisor` of drover.yaml: those of
 * Nova, and of each part that is there.
 */
export function hostCheckSettings(
  host: string,
  { imageId }: Pick<OpenStackHandle, 'imageId'>,
  { libvirt, ovs, ceph }: CheckedParts,
): object {
  return {
    ...(libvirt !== undefined && {
      libvirt: {
        connectUri: libvirt.tlsUri,
        tls: { caFile: libvirt.caFile, certFile: libvirt.certFile, keyFile: libvirt.keyFile },
        minimumVersion: '8.0.0',
      },
    }),
    ...(ovs !== undefined && {
      ovs: {
        remote: `ssl:{host}:${ovs.hosts[host]?.ssl.split(':').at(-1)}`,
        tls: { caFile: ovs.caFile, certFile: ovs.client.certificateFile, keyFile: ovs.client.keyFile },
      },
    }),
    ...(ceph !== undefined && {
      ceph: {
        dashboards: [ceph.dashboardUrl],
        user: ceph.dashboardUser,
        passwordFile: ceph.dashboardPasswordFile,
        pools: [ceph.pool],
        // The host's own libvirt lists the pools.
        rbd:
          libvirt === undefined
            ? null
            : {
                monitors: [`${ceph.monitor.host}:${ceph.monitor.port}`],
                user: ceph.client.name,
                keyFile: ceph.client.keyFile,
              },
      },
    }),
    smoke: { flavorId: 'lab.tiny', imageId, console: 'hostname' },
  };
}
