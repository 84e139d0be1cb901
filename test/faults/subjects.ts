import { kindTable } from '../../contracts/kinds/table.ts';
import type { Client } from '@temporalio/client';
import type { Condition } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import {
  evictionId,
  hypervisorId,
  policyAnnotations,
  resourcePolicyId,
  virtualMachineId,
} from '../../contracts/ids.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import { labClock } from '../../lab/clock.ts';
import type { PartName } from '../../lab/part.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';

/** An object of any kind, as far as the matrix looks at it. */
export interface AnyObject {
  metadata: {
    name: string;
    uid?: string;
    generation?: number;
    resourceVersion?: string;
    finalizers?: string[];
    annotations?: Readonly<Record<string, string>>;
  };
  spec?: Readonly<Record<string, unknown>>;
  status?: { conditions?: readonly Condition[] };
}

/** What a scenario is about: an object of each of its hosts, and the run that serves it. A VM's *host* is its `namespace/name`. */
export interface Subject {
  /** Of the lab: what its scenarios need. */
  parts: readonly PartName[];
  /** Whether one object's change is the next one's cause. A bridge tells of all objects of a cluster, so that a fixture with one is alone. */
  bridge: boolean;
  /** What the objects of a fixture are called: `happy-1`, `a`. */
  nameIn(fixture: string, letter: string): string;
  /** How it has ended, or where it is. */
  endOf(object: AnyObject): Pick<Condition, 'reason' | 'message'>;
  workflowId(host: string): string;
  path(host: string): string;
  isSettled(object: AnyObject): boolean;
  /** It says that somebody has cancelled its run, and rests where it was. */
  isStopped(object: AnyObject): boolean;
  /** As the bridge tells of a change; starts the run if none is open. */
  tell(client: Client, host: string, signal: ObjectChanged): Promise<unknown>;
  /** A change of its spec after which it ends the same. */
  change: object;
  /** What drover makes it from: changed where it is not there yet. */
  origin?(host: string): string;
}

const ofHosts = {
  parts: ['temporal', 'kubernetes', 'openstack'],
  nameIn: (fixture: string, letter: string): string => `${fixture}-${letter}`,
} as const;

const byCondition =
  (type: string) =>
  ({ status }: AnyObject): Pick<Condition, 'reason' | 'message'> =>
    findCondition(status?.conditions, type) ?? { reason: 'nothing', message: '' };

const kvm =
  (kind: 'evictions' | 'hypervisors') =>
  (host: string): string =>
    resourcePath('kvm.cloud.sap/v1', kind, { name: host });

const wasCancelled = ({ status }: AnyObject, type: string): boolean => {
  const lifecycle = findCondition(status?.conditions, type);
  return lifecycle?.status === 'False' && lifecycle.message.startsWith('The run was cancelled');
};

/** `namespace/name`. */
export function partsOf(vm: string): [namespace: string, name: string] {
  const [namespace = '', name = ''] = vm.split('/');
  return [namespace, name];
}

export const subjects = {
  Eviction: {
    ...ofHosts,
    bridge: false,
    endOf: byCondition(evictionConditions.evicting),
    workflowId: evictionId,
    path: kvm('evictions'),
    isSettled: (object) => kindTable.Eviction.isReconciled(object as never, 'act'),
    isStopped: ({ status }) => findCondition(status?.conditions, evictionConditions.evicting)?.reason === 'Stopped',
    tell: (client, host, signal) =>
      signalWithStart(client, kindTable.Eviction, { subject: host, cluster: '', signal }, { clock: labClock() }),
    change: { reason: 'fault matrix, changed' },
  },
  Hypervisor: {
    ...ofHosts,
    bridge: true,
    endOf: byCondition(hypervisorConditions.lifecycle),
    workflowId: hypervisorId,
    path: kvm('hypervisors'),
    isSettled: (object) => kindTable.Hypervisor.isReconciled(object as never, 'act'),
    isStopped: (object) => wasCancelled(object, hypervisorConditions.lifecycle),
    tell: (client, hypervisor, signal) =>
      signalWithStart(
        client,
        kindTable.Hypervisor,
        { subject: hypervisor, cluster: '', signal },
        { clock: labClock() },
      ),
    change: { highAvailability: true },
    origin: (host) => resourcePath('v1', 'nodes', { name: host }),
  },
  VirtualMachine: {
    parts: ['temporal', 'kubernetes', 'vsphere'],
    bridge: false,
    nameIn: (fixture, letter) => `${fixture}/${fixture}-${letter}`,
    endOf: byCondition(virtualMachineConditions.lifecycle),
    workflowId: (vm) => virtualMachineId(...partsOf(vm)),
    path(vm) {
      const [namespace, name] = partsOf(vm);
      return resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines', { namespace, name });
    },
    isSettled: (object) => kindTable.VirtualMachine.isReconciled(object as never, 'act'),
    isStopped: (object) => wasCancelled(object, virtualMachineConditions.lifecycle),
    tell: (client, vm, signal) =>
      signalWithStart(client, kindTable.VirtualMachine, { subject: vm, cluster: '', signal }, { clock: labClock() }),
    change: { advanced: { extraConfig: [{ key: 'matrix', value: 'changed' }] } },
  },
  VirtualMachineSetResourcePolicy: {
    parts: ['temporal', 'kubernetes', 'vsphere'],
    // Which shows that a cancelled one is not started again.
    bridge: true,
    nameIn: (fixture, letter) => `${fixture}/${fixture}-${letter}`,
    endOf: ({ metadata: { annotations = {} } }) => ({
      reason: /^\d+$/u.test(annotations[policyAnnotations.made] ?? '') ? 'Made' : 'nothing',
      message: annotations[policyAnnotations.waitsFor] ?? '',
    }),
    workflowId: (policy) => resourcePolicyId(...partsOf(policy)),
    path(policy) {
      const [namespace, name] = partsOf(policy);
      return resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachinesetresourcepolicies', { namespace, name });
    },
    isSettled: (object) => kindTable.VirtualMachineSetResourcePolicy.isReconciled(object as never, 'act'),
    isStopped: ({ metadata: { annotations = {}, generation } }) =>
      annotations[policyAnnotations.made] === `cancelled ${generation}`,
    tell: (client, policy, signal) =>
      signalWithStart(
        client,
        kindTable.VirtualMachineSetResourcePolicy,
        { subject: policy, cluster: '', signal },
        { clock: labClock() },
      ),
    change: { clusterModuleGroups: ['web', 'db'] },
  },
} as const satisfies Record<string, Subject>;

export type SubjectKind = keyof typeof subjects;

/** Whether what it is about is in a namespace of vCenter's, rather than on hosts. */
export const isInVcenter = (kind: SubjectKind): boolean =>
  (subjects[kind].parts as readonly PartName[]).includes('vsphere');
