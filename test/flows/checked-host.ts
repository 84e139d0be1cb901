import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostCheckSettings } from '../../lab/host-check-settings.ts';
import { startLab } from '../../lab/lab.ts';
import type { OpenStackHandle } from '../../lab/openstack/handle.ts';
import { cephPrograms } from '../../lab/parts/ceph.ts';
import { libvirtPrograms } from '../../lab/parts/libvirt.ts';
import type { BridgeRow } from '../../lab/parts/ovs-bridges.ts';
import { setBridges } from '../../lab/parts/ovs-bridges.ts';
import { ovsPrograms } from '../../lab/parts/ovs.ts';

/** A host with all that drover checks there: libvirt, Open vSwitch and Ceph. */
export interface CheckedHost {
  /** Where its daemons are reached, as the Node's InternalIP. */
  address: string;
  /** Of the section `hypervisor` of drover's settings, what the checks need. */
  settings: object;
  /** Makes these bridges, and only these, the host's. */
  setBridges(bridges: readonly BridgeRow[]): Promise<void>;
  close(): Promise<void>;
}

/** Root's lab installs what is missing. */
export const canOpenCheckedHost = (): boolean =>
  process.env['DROVER_SIMULATED'] !== undefined ||
  process.getuid?.() === 0 ||
  [libvirtPrograms, ovsPrograms, cephPrograms].every((programs) => programs.missing().length === 0);

/** Real ones, in a lab of their own. */
export async function openLabHost(host: string, openstack: Pick<OpenStackHandle, 'imageId'>): Promise<CheckedHost> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'drover-checks-')));
  const address = '127.0.0.11';
  const lab = await startLab({
    dir: join(dir, 'lab'),
    parts: ['libvirt', 'ovs', 'ceph'],
    libvirt: { hosts: [host] },
    ovs: { hosts: [host], addresses: { [host]: address } },
  });
  const ovs = lab.handles.ovs.hosts[host];
  if (ovs === undefined || lab.handles.libvirt.addresses[host] !== address)
    throw new Error(`the lab has no Open vSwitch and libvirt for ${host} at ${address}`);
  return {
    address,
    settings: hostCheckSettings(host, openstack, lab.handles),
    setBridges: (bridges) => setBridges(ovs, bridges),
    async close() {
      await lab.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
