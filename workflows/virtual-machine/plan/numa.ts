import type { VmConfig } from '../../../contracts/virtual-machine/config.ts';
import type { WantedSettings } from '../../../contracts/virtual-machine/lifecycle.ts';
import type { Difference } from './diff-config.ts';

/** The first hardware version whose NUMA nodes can be set. */
const numaHardwareVersion = 20;

/**
 * A difference, and what stands in its way that only a change of the spec, or of the VM in vCenter,
 * removes: as sentences.
 */
export interface ConditionalDifference extends Difference {
  unmet: string[];
}

/**
 * How many cores each NUMA node of the guest has, from how many nodes there shall be; 0 nodes: vSphere decides. Only
 * while the VM is off.
 *
 * @param numCPUs that the VM has once all else is changed
 */
export function diffNuma(
  { vnumaNodeCount: nodes, coresPerSocket }: Pick<WantedSettings, 'vnumaNodeCount' | 'coresPerSocket'>,
  numCPUs: number,
  { coresPerNumaNode: current, hardwareVersion }: Pick<VmConfig, 'coresPerNumaNode' | 'hardwareVersion'>,
  isOff: boolean,
): ConditionalDifference {
  const nothing = { spec: {}, whenOff: [], unmet: [] };
  if (nodes === null) return nothing;
  const wanted = nodes === 0 ? 0 : numCPUs / nodes;
  if (wanted === current) return nothing;
  const obstacle =
    hardwareVersion < numaHardwareVersion
      ? `NUMA nodes can be set from hardware version ${numaHardwareVersion} on, and the VM has ${hardwareVersion}: set spec.minHardwareVersion to ${numaHardwareVersion}, or take vnumaNodeCount away`
      : obstacleTo(wanted, nodes, numCPUs, coresPerSocket ?? 1);
  if (obstacle !== null) return { ...nothing, unmet: [obstacle] };
  return isOff
    ? { ...nothing, spec: { coresPerNumaNode: wanted } }
    : { ...nothing, whenOff: [`coresPerNumaNode ${current} → ${wanted}`] };
}

function obstacleTo(wanted: number, nodes: number, numCPUs: number, coresPerSocket: number): string | null {
  if (!Number.isInteger(wanted))
    return `${numCPUs} CPUs cannot be divided into ${nodes} NUMA nodes: choose a vnumaNodeCount that divides them`;
  return wanted === 0 || wanted % coresPerSocket === 0 || coresPerSocket % wanted === 0
    ? null
    : `A NUMA node of ${wanted} cores does not fit sockets of ${coresPerSocket}: one has to be a multiple of the other`;
}
