import { workflowTypes } from '../ids.ts';
import { dataVolumeKind } from './data-volume.ts';
import { evictionKind } from './eviction.ts';
import { hypervisorKind } from './hypervisor.ts';
import type { RunRow } from './kind.ts';
import { machineKind } from './machine.ts';
import { nodeFailureRun } from './node-failure.ts';
import { storageProfileKind } from './storage-profile.ts';
import { resourcePolicyKind } from './virtual-machine-set-resource-policy.ts';
import { virtualMachineKind } from './virtual-machine.ts';
import { vsphereAgentKind } from './vsphere-agent.ts';
import { vsphereAgentPoolKind } from './vsphere-agent-pool.ts';

/**
 * The kinds that drover drives: one row each, by the name that settings, search attributes, metrics and
 * `drover stop --kind` use.
 */
export const kindTable = {
  [evictionKind.kind]: evictionKind,
  [hypervisorKind.kind]: hypervisorKind,
  [virtualMachineKind.kind]: virtualMachineKind,
  [resourcePolicyKind.kind]: resourcePolicyKind,
  [machineKind.kind]: machineKind,
  [vsphereAgentPoolKind.kind]: vsphereAgentPoolKind,
  [vsphereAgentKind.kind]: vsphereAgentKind,
  [dataVolumeKind.kind]: dataVolumeKind,
  [storageProfileKind.kind]: storageProfileKind,
} as const;

export type Kind = keyof typeof kindTable;

export const kinds = Object.keys(kindTable) as Kind[];

/** What runs of other types are about, by their type: they have no object that they are started for. */
const otherRuns: Readonly<Record<string, string>> = {
  [workflowTypes.syncContentLibrary]: 'ContentLibrary',
  [workflowTypes.watchGuests]: 'GuestWatch',
  [workflowTypes.watchVcenter]: 'VcenterWatch',
  [workflowTypes.migrateInstance]: 'Migration',
  [workflowTypes.allocateAllowance]: 'Allowance',
  [workflowTypes.findDrift]: 'Drift',
  [workflowTypes.requestSweep]: 'SweepRequest',
  [workflowTypes.watchApiServers]: 'ApiServerSafety',
  [workflowTypes.watchOvershoot]: 'OvershootSafety',
};

const kindByType = new Map<string, string>([
  ...[...Object.values(kindTable), nodeFailureRun].map(
    ({ workflowType, kind }: RunRow) => [workflowType, kind] as const,
  ),
  ...Object.entries(otherRuns),
]);

/** Of a run, as in the search attribute `DroverKind` and in metrics. */
export const kindOf = (workflowType: string): string => kindByType.get(workflowType) ?? workflowType;
