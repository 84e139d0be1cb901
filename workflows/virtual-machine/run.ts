import type { ObjectChanged } from '../../contracts/messages.ts';
import type { VirtualMachineRead, VsphereFacts } from '../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineMemory } from '../../contracts/virtual-machine/observation.ts';
import { noFacts } from './compose-observation.ts';
import { noMemory } from './remember.ts';
import type { Turn } from './turn.ts';

/** What a run remembers from one look to the next, and across continue-as-new: nothing that it could read again. */
export interface VirtualMachineState {
  memory: VirtualMachineMemory;
  /** Looks at Kubernetes that failed in a row, for the back-off. */
  failures: number;
  /** Something was changed: then the run lingers, so that echoes coalesce. */
  acted: boolean;
}

export interface VirtualMachineRun {
  namespace: string;
  name: string;
  state: VirtualMachineState;
  /** Whether what is known is as of now: a step that ends well tells what came of it. */
  isFresh: boolean;
  /** Unix ms of the last look; 0: none. */
  lookedMs: number;
  /** Null before the first look. */
  seen: Extract<VirtualMachineRead, { next: 'run' }> | null;
  /** As vCenter told it last. */
  facts: VsphereFacts;
  /** Null: it has none, and waits for none. */
  turn: Turn | null;
  /** What it waits for, for people; null: it is at work. */
  waiting: { for: string; untilMs: number } | null;
  /** State and sentence, for people. */
  phase: string | null;
  message: string;
}

export const beginRun = (namespace: string, name: string, state: VirtualMachineState | null): VirtualMachineRun => ({
  namespace,
  name,
  state: state ?? { memory: noMemory, failures: 0, acted: false },
  isFresh: false,
  lookedMs: 0,
  seen: null,
  facts: noFacts,
  turn: null,
  waiting: null,
  phase: null,
  message: 'Begins',
});

/** An object's spec, as a signal names it. */
type Told = Pick<ObjectChanged, 'uid' | 'generation'>;

/** What has come since the last look. */
export interface Inbox {
  /** Something that only a look can tell, other than that the spec was written. */
  changed: boolean;
  /** The newest spec that was told of; null: none. */
  told: Told | null;
  /** What the watch over the vCenter saw last; null: nothing. */
  seen: string | null;
  /** Somebody wants it tried now, whatever has failed. */
  retryNow: boolean;
  cancelled: boolean;
}

export const emptyInbox = (): Inbox => ({ changed: false, told: null, seen: null, retryNow: false, cancelled: false });

/** Takes in what a signal tells. One that tells nothing, as from a person, means that something has changed. */
export function hearChange(inbox: Inbox, change: Partial<ObjectChanged> | null | undefined): void {
  const { uid, generation = 0, cause, seen } = change ?? {};
  if (typeof seen === 'string') {
    inbox.seen = seen;
    return;
  }
  const told = uid !== undefined && generation > 0 ? { uid, generation } : null;
  if (told !== null && !(inbox.told !== null && covers(inbox.told, told))) inbox.told = told;
  if (told === null || cause !== 'spec') inbox.changed = true;
}

const covers = (known: Told, told: Told): boolean => known.uid === told.uid && known.generation >= told.generation;

/** Whether to look again. A VM that the run has seen so already is no reason, nor is a spec that it knows: its own doing comes back that way. */
export const hasNews = (run: VirtualMachineRun, inbox: Inbox): boolean =>
  inbox.changed || isChanged(run, inbox) || (inbox.seen !== null && inbox.seen !== run.facts.seen);

/** Whether what a decision was made on has changed, other than by what the run itself has written beside the spec. */
export const isOutdated = (run: VirtualMachineRun, inbox: Inbox): boolean => inbox.cancelled || isChanged(run, inbox);

/** Whether a spec was told of that the run has neither read nor written. */
export function isChanged({ seen }: VirtualMachineRun, { told }: Inbox): boolean {
  const desired = seen?.desired ?? null;
  return told !== null && (desired === null || !covers(desired, told));
}
