import type { Machine } from '../crds/machine.ts';
import { orphanSweepId, workflowTypes } from '../ids.ts';
import { type Access } from './access.ts';
import { defineKind } from './kind.ts';
import { type KubeObject, textOf } from './object.ts';

const group = 'machine.sapcloud.io';

/**
 * The provider has found several VMs for one Machine: machine-controller-manager writes so into
 * a text (docs/machine-safety.md#sweeps).
 */
export const severalVms = 'OutOfRange';

function saysSeveralVms({ status }: KubeObject): boolean {
  const { lastOperation } = (status ?? {}) as { lastOperation?: { description?: unknown; errorCode?: unknown } | null };
  return [lastOperation?.description, lastOperation?.errorCode].some(
    (text) => textOf(text)?.includes(severalVms) === true,
  );
}

const read = (resources: readonly string[], why: string): Access => ({ group, resources, verbs: ['get', 'list'], why });

/**
 * Machines are machine-controller-manager's; drover does its safety jobs. The run of a Machine is the sweep of its
 * namespace, for which a Machine is a reason when it is gone, and when the provider has found several VMs for it.
 */
export const machineKind = defineKind({
  group,
  version: 'v1alpha1',
  kind: 'Machine',
  plural: 'machines',
  namespaced: true,
  mode: { default: 'off' },
  workflowType: workflowTypes.sweepOrphans,
  workflowId: orphanSweepId,
  input: ['namespace'],
  describe: (namespace) => ({
    summary: `Sweep orphan VMs of ${namespace}`,
    details: [
      `Lists the VMs of each MachineClass of **${namespace}**, and deletes those that belong to no Machine: docs/machine-safety.md.`,
      '`drover sweep ls` says what it has found and what it waits for; `drover sweep keep` keeps a VM.',
    ],
  }),
  subject: ({ metadata: { namespace } }) => namespace ?? null,
  shared: true,
  predicate: {
    fields: (object) => ({ 'status.lastOperation': { value: saysSeveralVms(object) } }),
  },
  isReconciled: (_machine: Machine) => true,
  dependsOn: () => [],
  role: 'machines',
  access: [
    read(['machines', 'machineclasses', 'machinesets', 'machinedeployments'], 'Which VMs belong to a Machine.'),
    {
      group,
      resources: ['machines/status'],
      verbs: ['patch'],
      why: 'Machines in the phase Unknown are Running again when their API servers are back.',
    },
    {
      group,
      resources: ['machinesets', 'machinedeployments'],
      verbs: ['patch'],
      why: 'The label `freeze` of those that have too many Machines, and the annotation that takes it off.',
    },
    {
      group,
      resources: ['machinesets/status', 'machinedeployments/status'],
      verbs: ['patch'],
      why: 'The condition Frozen.',
    },
    {
      group: '',
      resources: ['namespaces'],
      verbs: ['get'],
      why: 'The uid of the Namespace of the Machines, by which a sweep notices that it is in another cluster, or in one that was made anew.',
    },
    {
      group: '',
      resources: ['configmaps'],
      verbs: ['get'],
      namespace: 'system',
      names: ['drover-sweep'],
      why: 'VMs that a user keeps, whatever a sweep finds: `drover sweep keep`. Read only.',
    },
    {
      group: '',
      resources: ['secrets'],
      verbs: ['get'],
      role: 'machine-credentials',
      when: 'optional',
      why: 'The credential of a MachineClass, by name, when it is used.',
    },
  ],
});
