import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type { AllowanceGranted, AllowanceRequest, SlotAnswer } from './allowance.ts';
import type { GuestsFailing } from './node-failure/guest-watch.ts';
import type { RunProgress } from './runs.ts';

/** Signal of the bridge: an object changed; read it fresh. The watch over a vCenter sends it too, when a VM did. */
export interface ObjectChanged {
  uid: string;
  generation: number;
  resourceVersion: string;
  /**
   * What changed, for people: `spec`, `deleted`, `annotations`, `labels`, `finalizers`, `status`, `relist`, `resync`,
   * `retry`; several joined with a comma.
   */
  cause: string;
  /**
   * Of the watch: a digest of the state that it reports, opaque. A run that has observed the same state, such as its
   * own change, ignores it.
   */
  stateDigest?: string;
}

/** Sent by a client that has not read the object, such as a user who starts a run by hand. */
export const unseenChange = (cause: string): ObjectChanged => ({ uid: '', generation: 0, resourceVersion: '', cause });

/** Who asks, for the audit trail. */
interface By {
  /** As the starter knows them; `unknown` where it does not say. */
  by?: string;
}

export interface Pause extends By {
  reason?: string;
}
export type Resume = By;
export interface SkipInstance extends By {
  /** Server id or name. */
  instance: string;
  reason?: string;
}
export interface RetryInstance extends By {
  /** Server id or name. */
  instance: string;
}
export interface SetParallelism extends By {
  /** 1 to 64. */
  parallelism: number;
}
export interface AcceptObstacle extends By {
  /** Id of the obstacle: its code, or `code/server id`. */
  obstacle: string;
}
export interface CancelEviction extends By {
  /** Abort what is in flight instead of letting it finish. */
  abort?: boolean;
  /** Enable the host again, if it carries drover's own reason. */
  reEnable?: boolean;
}

/** A user lets the orphan VMs go that a sweep holds back as there are many: those that it holds then. */
export interface ApproveSweep extends By {
  reason?: string;
}

/** A user has a leftover of a create deleted, which a sweep has listed (docs/machine-safety.md#leftovers). */
export interface DeleteLeftover extends By {
  machineClass: string;
  kind: 'port' | 'volume';
  /** At the provider. */
  id: string;
  /** RFC 3339, when it was asked for: the answer has it, too. */
  at?: string;
}

/** A person's word that a host is off and stays so. All three are needed: see docs/node-failure.md. */
export interface ConfirmOff {
  incident: string;
  /** Boot id of the Node, as the run's `progress` has it. */
  bootId: string;
  person: string;
}

/**
 * A person's word that what lies on a dead host's own disks of these servers is given up, so that they may
 * come up elsewhere.
 */
export interface AbandonDisks {
  incident: string;
  /** Servers by id or name. */
  instances: string[];
  person: string;
}

// As `defineSignal` and its like make them, for clients too, which must not load `@temporalio/workflow`.
const signal = <Argument>(name: string) => ({ type: 'signal', name }) as SignalDefinition<[Argument]>;
const update = <Argument, Answer = string>(name: string) =>
  ({ type: 'update', name }) as UpdateDefinition<Answer, [Argument]>;
const query = <Answer>(name: string) => ({ type: 'query', name }) as QueryDefinition<Answer>;

/**
 * The messages of every run. Signals are facts, updates are imperatives, queries are nouns. The names are wire names.
 * Senders are held to these types; handlers take anything, as people type messages too.
 */
export const messages = {
  objectChanged: signal<ObjectChanged>('objectChanged'),
  allowanceRequested: signal<AllowanceRequest>('allowanceRequested'),
  allowanceGranted: signal<AllowanceGranted>('allowanceGranted'),
  guestsFailing: signal<GuestsFailing>('guestsFailing'),
  acquireSlots: update<readonly AllowanceRequest[], SlotAnswer[]>('acquireSlots'),
  pause: update<Pause>('pause'),
  resume: update<Resume>('resume'),
  skipInstance: update<SkipInstance>('skipInstance'),
  retryInstance: update<RetryInstance>('retryInstance'),
  setParallelism: update<SetParallelism>('setParallelism'),
  acceptObstacle: update<AcceptObstacle>('acceptObstacle'),
  cancelEviction: update<CancelEviction>('cancelEviction'),
  retryNow: update<By>('retryNow'),
  confirmOff: update<ConfirmOff>('confirmOff'),
  abandonDisks: update<AbandonDisks>('abandonDisks'),
  approve: update<ApproveSweep>('approve'),
  deleteLeftover: update<DeleteLeftover>('deleteLeftover'),
  progress: query<RunProgress>('progress'),
} as const;

/** What a user asks of a run. It answers with a sentence. */
export type Command<Argument> = UpdateDefinition<string, [Argument]>;

/** `tctl` knows no updates, so that each command of a user is accepted as a signal of the same name too. */
export const asSignal = <Argument>({ name }: Command<Argument>) => signal<Argument>(name);

/** The query `progress` of a run that answers more than {@link RunProgress}, or something else. */
export const progressQuery = <Progress>() => query<Progress>(messages.progress.name);
