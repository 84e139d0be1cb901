import { installCommand } from '../debian.ts';
import type { CheckedParts } from '../host-check-settings.ts';
import { LabError } from '../lab-error.ts';
import { startLab, wipeLab } from '../lab.ts';
import { cephPrograms } from '../parts/ceph.ts';
import { libvirtPrograms } from '../parts/libvirt.ts';
import { ovsPrograms } from '../parts/ovs.ts';

/** What a host is checked on, besides Nova. */
const counterparts = [
  { part: 'libvirt', programs: libvirtPrograms },
  { part: 'ovs', programs: ovsPrograms },
  { part: 'ceph', programs: cephPrograms },
] as const;
export const hostParts = counterparts.map(({ part }) => part);

export interface HostParts {
  handles: CheckedParts;
  /** Why some checks are left out, for the user. */
  remarks: string[];
}

/**
 * Brings up libvirt, Open vSwitch and Ceph for the host. Root has Debian's packages installed for what is missing;
 * another user is shown the command. What cannot be had is left out: the demo goes on without.
 */
export async function startHostParts(
  dir: string,
  host: string,
  { report, signal }: { report: (line: string) => void; signal: AbortSignal },
): Promise<HostParts> {
  const isRoot = process.getuid?.() === 0;
  const missing = isRoot ? [] : counterparts.filter(({ programs }) => programs.missing().length > 0);
  const remarks =
    missing.length === 0
      ? []
      : [
          `Without the checks of ${missing.map(({ programs }) => programs.what).join(', ')}. On Debian they come with: sudo ${installCommand(missing.flatMap(({ programs }) => programs.packages))}`,
        ];
  // They may be there for other hosts, with certificates of other addresses.
  await wipeLab({ dir, parts: ['libvirt', 'ovs'] });
  let handles: CheckedParts = {};
  for (const { part, programs } of counterparts) {
    if (missing.some((one) => one.part === part)) continue;
    try {
      // A daemon of libvirt has an address of its own, which is the host's.
      const addresses = handles.libvirt?.addresses ?? {};
      const lab = await startLab({
        dir,
        parts: [part],
        libvirt: { hosts: [host] },
        ovs: { hosts: [host], addresses },
        report,
        signal,
      });
      handles = { ...handles, ...lab.handles };
    } catch (error) {
      if (signal.aborted || !(error instanceof LabError)) throw error;
      remarks.push(`Without the checks of ${programs.what}: ${error.message}`);
    }
  }
  return { handles, remarks };
}
