import type { KindRow } from '../../contracts/kinds/kind.ts';
import { apiVersionOf, namespaceAndName } from '../../contracts/kinds/object.ts';
import { type Kind, kindTable } from '../../contracts/kinds/table.ts';
import type { Client } from '@temporalio/client';
import type { Condition } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { policyAnnotations } from '../../contracts/ids.ts';
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

/**
 * What a scenario is about: an object of each of its hosts, and the run that serves it. A VM's *host*
 * is its `namespace/name`.
 */
export interface Subject {
  /** Of the lab: what its scenarios need. */
  parts: readonly PartName[];
  /**
   * Whether one object's change is the next one's cause. A bridge tells of all objects of a cluster, so that a fixture
   * with one is alone.
   */
  bridge: boolean;
  /** What the objects of a fixture are called: `happy-1`, `a`. */
  nameIn(fixture: string, letter: string): string;
  /** How it has ended, or where it is. */
  endOf(object: AnyObject): Pick<Condition, 'reason' | 'message'>;
  workflowId(host: string): string;
  path(host: string): string;
  isSettled(object: AnyObject): boolean;
  /** It says that a user has cancelled its run, and rests where it was. */
  isStopped(object: AnyObject): boolean;
  /** As the bridge tells of a change; starts the run if none is open. */
  tell(client: Client, host: string, signal: ObjectChanged): Promise<unknown>;
  /** A change of its spec after which it ends the same. */
  change: object;
  /** What drover makes it from: changed where it is not there yet. */
  origin?(host: string): string;
}

const byCondition =
  (type: string) =>
  ({ status }: AnyObject): Pick<Condition, 'reason' | 'message'> =>
    findCondition(status?.conditions, type) ?? { reason: 'nothing', message: '' };

const wasCancelled = ({ status }: AnyObject, type: string): boolean => {
  const lifecycle = findCondition(status?.conditions, type);
  return lifecycle?.status === 'False' && lifecycle.message.startsWith('The run was cancelled');
};

/** What the row of the kind says. */
function ofKind(kind: Kind) {
  const row: KindRow = kindTable[kind];
  const parts = row.namespaced
    ? (['temporal', 'kubernetes', 'vsphere'] as const)
    : (['temporal', 'kubernetes', 'openstack'] as const);
  return {
    parts,
    nameIn: (fixture, letter) => `${row.namespaced ? `${fixture}/` : ''}${fixture}-${letter}`,
    workflowId: (subject) => row.workflowId(subject),
    path(subject) {
      const [namespace, name] = namespaceAndName(subject);
      return resourcePath(apiVersionOf(row), row.plural, { name, ...(row.namespaced && { namespace }) });
    },
    isSettled: (object) => row.isReconciled(object as never, 'act'),
    tell: (client, subject, signal) =>
      signalWithStart(client, row, { subject, cluster: '', signal }, { clock: labClock() }),
  } as const satisfies Partial<Subject>;
}

export const subjects = {
  Eviction: {
    ...ofKind('Eviction'),
    bridge: false,
    endOf: byCondition(evictionConditions.evicting),
    isStopped: ({ status }) => findCondition(status?.conditions, evictionConditions.evicting)?.reason === 'Stopped',
    change: { reason: 'fault matrix, changed' },
  },
  Hypervisor: {
    ...ofKind('Hypervisor'),
    bridge: true,
    endOf: byCondition(hypervisorConditions.lifecycle),
    isStopped: (object) => wasCancelled(object, hypervisorConditions.lifecycle),
    change: { highAvailability: true },
    origin: (host) => resourcePath('v1', 'nodes', { name: host }),
  },
  VirtualMachine: {
    ...ofKind('VirtualMachine'),
    bridge: false,
    endOf: byCondition(virtualMachineConditions.lifecycle),
    isStopped: (object) => wasCancelled(object, virtualMachineConditions.lifecycle),
    change: { advanced: { extraConfig: [{ key: 'matrix', value: 'changed' }] } },
  },
  VirtualMachineSetResourcePolicy: {
    ...ofKind('VirtualMachineSetResourcePolicy'),
    // Which shows that a cancelled one is not started again.
    bridge: true,
    endOf: ({ metadata: { annotations = {} } }) => ({
      reason: /^\d+$/u.test(annotations[policyAnnotations.made] ?? '') ? 'Made' : 'nothing',
      message: annotations[policyAnnotations.waitsFor] ?? '',
    }),
    isStopped: ({ metadata: { annotations = {}, generation } }) =>
      annotations[policyAnnotations.made] === `cancelled ${generation}`,
    change: { clusterModuleGroups: ['web', 'db'] },
  },
} as const satisfies Record<
  Exclude<Kind, 'Machine' | 'VsphereAgentPool' | 'VsphereAgent' | 'DataVolume' | 'StorageProfile'>,
  Subject
>;

export type SubjectKind = keyof typeof subjects;

/** Whether what it is about is in a namespace of vCenter's, rather than on hosts. */
export const isInVcenter = (kind: SubjectKind): boolean =>
  (subjects[kind].parts as readonly PartName[]).includes('vsphere');
