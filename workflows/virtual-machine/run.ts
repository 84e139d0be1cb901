import type { VirtualMachineRead, VsphereFacts } from '../../contracts/virtual-machine-activities.ts';
import type { VirtualMachineMemory } from '../../contracts/virtual-machine-observation.ts';
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
  seen: null,
  facts: noFacts,
  turn: null,
  waiting: null,
  phase: null,
  message: 'Begins',
});

/** What has come since the last look. */
export interface Inbox {
  changed: boolean;
  /** What the watch over the vCenter saw last; null: nothing. */
  seen: string | null;
  /** Generation that was told of last; 0: none. */
  generation: number;
  /** Somebody wants it tried now, whatever has failed. */
  retryNow: boolean;
  cancelled: boolean;
}

export const emptyInbox = (): Inbox => ({ changed: false, seen: null, generation: 0, retryNow: false, cancelled: false });

/** Whether to look again. What the watch has seen is none where the run has seen the same: its own doing comes back that way. */
export const hasNews = ({ facts }: VirtualMachineRun, { changed, seen }: Inbox): boolean => changed || (seen !== null && seen !== facts.seen);

/** Whether what a decision was made on has changed, other than by what the run itself has written beside the spec. */
export const isOutdated = (run: VirtualMachineRun, inbox: Inbox): boolean => inbox.cancelled || isChanged(run, inbox);

/** Whether the object was told to be another one than that which was read. */
export const isChanged = ({ seen }: VirtualMachineRun, inbox: Inbox): boolean => inbox.changed && inbox.generation !== 0 && inbox.generation !== seen?.desired?.generation;

