import type { ReadBackup } from '../../contracts/virtual-machine/backup.ts';
import type { ReadBootstrap } from '../../contracts/virtual-machine/bootstrap.ts';
import type { OwnerOfVm } from '../../contracts/virtual-machine/activities.ts';
import type { Audit } from '../../runtime/telemetry/audit.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { VcenterPlaces } from '../../runtime/config/vsphere-config.ts';
import type { ActivityScope } from '../nova/scope.ts';
import type { VcenterRest } from './rest/client.ts';
import type { VcenterGateway } from './types.ts';
import type { RecentLooks } from './watch/recent-looks.ts';

/** What the composition root gives to the activities of one vCenter. */
export interface VsphereDependencies {
  gateway: VcenterGateway;
  /** Of the same vCenter. */
  rest: VcenterRest;
  places: VcenterPlaces;
  /** Of Kubernetes, in this process: what they read goes into the VM, and nowhere else. */
  readBootstrap: ReadBootstrap;
  readBackup: ReadBackup;
  /** Told of what runs do and see of VMs. Default: nobody. */
  looks?: RecentLooks;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: (signal: AbortSignal) => Promise<void>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
}

/** The same, for one execution. */
export type Tools = Pick<VsphereDependencies, 'gateway' | 'looks' | 'stopGate' | 'audit' | 'clock'> & {
  scope: ActivityScope;
};

/** One mutation: asked of the gate before, and written down after, also where nobody knows what came of it. */
export interface Deed<Result> {
  /** As the activity is called. */
  action: string;
  /** What it is done for: `vm/team-a/web`. */
  object: string;
  cause: string;
  before: unknown;
  after: unknown;
  submit: () => Promise<Result>;
  /** vCenter's own id of what was begun. */
  idOf?: (result: Result) => string;
}

export async function carryOut<Result>(
  { stopGate, audit, scope }: Pick<Tools, 'stopGate' | 'audit' | 'scope'>,
  { action, object, cause, before, after, submit, idOf }: Deed<Result>,
): Promise<Result> {
  await stopGate(scope.signal);
  const record = (requestId: string | null, outcome: unknown): Promise<void> =>
    audit.record({ actor: 'drover', action, object, cause, before, after: outcome, run: scope.run, requestId });
  try {
    const result = await submit();
    await record(idOf?.(result) ?? null, after);
    return result;
  } catch (error) {
    await record(null, { asked: after, failed: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

/** A mutation of a VM. */
export interface Mutation<Result> extends Omit<Deed<Result>, 'object' | 'cause'> {
  owner: OwnerOfVm;
}

export const mutate = <Result>(tools: Tools, { owner, submit, ...deed }: Mutation<Result>): Promise<Result> =>
  carryOut(tools, {
    ...deed,
    object: `vm/${owner.mark.namespacedName}`,
    cause: owner.cause,
    submit: () => {
      tools.looks?.noteDeed(owner.mark.namespacedName, tools.clock.now());
      return submit();
    },
  });

/** A mutation that is a task. */
export const mutateByTask = (tools: Tools, mutation: Omit<Mutation<string>, 'idOf'>): Promise<string> =>
  mutate(tools, { ...mutation, idOf: (taskId) => taskId });
