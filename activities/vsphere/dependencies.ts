import type { OwnerOfVm } from '../../contracts/virtual-machine-activities.ts';
import type { Audit } from '../../runtime/audit.ts';
import type { VcenterPlaces } from '../../runtime/vsphere-config.ts';
import type { ActivityScope } from '../nova/scope.ts';
import type { Clock } from '../nova/wait.ts';
import type { VcenterRest } from './rest/client.ts';
import type { VcenterGateway } from './types.ts';

/** What the composition root gives to the activities of one vCenter. */
export interface VsphereDependencies {
  gateway: VcenterGateway;
  /** Of the same vCenter. */
  rest: VcenterRest;
  places: VcenterPlaces;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: (signal: AbortSignal) => Promise<void>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: () => ActivityScope;
  /** Default: the system's. */
  clock?: Clock;
}

/** The same, with what may be left out filled in. */
export type Tools = Pick<VsphereDependencies, 'gateway' | 'stopGate' | 'audit'> & { scope: ActivityScope; clock: Clock };

/** One mutation: asked of the gate before, and written down after, also where nobody knows what came of it. */
export interface Mutation<Result> {
  /** As the activity is called. */
  action: string;
  owner: OwnerOfVm;
  before: unknown;
  after: unknown;
  submit: () => Promise<Result>;
  /** vCenter's own id of what was begun. */
  idOf?: (result: Result) => string;
}

export async function mutate<Result>({ stopGate, audit, scope }: Tools, { action, owner, before, after, submit, idOf }: Mutation<Result>): Promise<Result> {
  await stopGate(scope.signal);
  const record = (requestId: string | null, outcome: unknown): Promise<void> =>
    audit.record({ actor: 'drover', action, object: `vm/${owner.mark.namespacedName}`, cause: owner.cause, before, after: outcome, run: scope.run, requestId });
  try {
    const result = await submit();
    await record(idOf?.(result) ?? null, after);
    return result;
  } catch (error) {
    await record(null, { asked: after, failed: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

/** A mutation that is a task. */
export const mutateByTask = (tools: Tools, mutation: Omit<Mutation<string>, 'idOf'>): Promise<string> => mutate(tools, { ...mutation, idOf: (taskId) => taskId });
