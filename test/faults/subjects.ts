import type { Client } from '@temporalio/client';
import type { Condition } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { evictionConditions } from '../../contracts/eviction-conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor-conditions.ts';
import { evictionId, hypervisorId } from '../../contracts/ids.ts';
import type { ObjectChanged } from '../../contracts/messages.ts';
import { settled } from '../../contracts/settled.ts';
import { resourcePath } from '../../runtime/kubernetes.ts';
import { signalWithStartEviction, signalWithStartHypervisor } from '../../runtime/temporal.ts';

/** An object of any kind, as far as the matrix looks at it. */
export interface AnyObject {
  metadata: { name: string; uid?: string; generation?: number; resourceVersion?: string; finalizers?: string[] };
  status?: { conditions?: readonly Condition[] };
}

/** What a scenario is about: an object of each of its hosts, and the run that serves it. */
export interface Subject {
  /** The condition whose reason tells how it has ended. */
  condition: string;
  workflowId(host: string): string;
  path(host: string): string;
  isSettled(object: AnyObject): boolean;
  /** It says that somebody has cancelled its run, and rests where it was. */
  isStopped(object: AnyObject): boolean;
  /** As the bridge tells of a change; starts the run if none is open. */
  tell(client: Client, host: string, signal: ObjectChanged): Promise<unknown>;
  /** A change of its spec after which it ends the same. */
  change: object;
}

const kvm = (kind: 'evictions' | 'hypervisors') => (host: string): string => resourcePath('kvm.cloud.sap/v1', kind, { name: host });

export const subjects = {
  Eviction: {
    condition: evictionConditions.evicting,
    workflowId: evictionId,
    path: kvm('evictions'),
    isSettled: (object) => settled.Eviction(object as never, 'act'),
    isStopped: ({ status }) => findCondition(status?.conditions, evictionConditions.evicting)?.reason === 'Stopped',
    tell: (client, host, signal) => signalWithStartEviction(client, { host, cluster: '', eviction: host, signal }),
    change: { reason: 'fault matrix, changed' },
  },
  Hypervisor: {
    condition: hypervisorConditions.lifecycle,
    workflowId: hypervisorId,
    path: kvm('hypervisors'),
    isSettled: (object) => settled.Hypervisor(object as never, 'act'),
    isStopped({ status }) {
      const lifecycle = findCondition(status?.conditions, hypervisorConditions.lifecycle);
      return lifecycle?.status === 'False' && lifecycle.message.startsWith('The run was cancelled');
    },
    tell: (client, hypervisor, signal) => signalWithStartHypervisor(client, { hypervisor, cluster: '', signal }),
    change: { highAvailability: true },
  },
} as const satisfies Record<string, Subject>;

export type SubjectKind = keyof typeof subjects;
