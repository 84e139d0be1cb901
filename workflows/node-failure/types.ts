import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { AbandonDisks } from '../../contracts/messages.ts';
import type {
  HandlingSettings,
  NodeFailureInput,
  NodeFailureObservation,
} from '../../contracts/node-failure/activities.ts';
import type { Confirmation, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import type { Lifecycle } from '../lib/lifecycle.ts';
import type { Step } from '../lib/plan.ts';
import type { DatedObservation, FencingState } from './fencing-state.ts';

/** What a user has asked of the run, and when that came. */
export type Command = { id: string; atMs: number } & (
  | { kind: 'confirmOff'; confirmation: Confirmation }
  | { kind: 'abandonDisks'; abandonment: AbandonDisks }
);

export interface NodeFailureMemory {
  /** Null before the first observation that an incident could be opened on. */
  fencing: FencingState | null;
  /** drover has written `drover.dev/hold` for this incident. */
  held: boolean;
  /** drover has made an Eviction in `observe`, to show what emptying the host would take. */
  advised: boolean;
  /** Failed steps in a row, for the back-off. */
  failures: number;
  guests: DatedObservation['guests'];
  /** Since when each observation says that Nova has no such host any more; null: the last one does not. */
  leftNovaMs: number | null;
  /** Commands that no observation has answered yet, and by id the answers that are to be sent. */
  commands: Command[];
  answers: Record<string, Answer>;
  /** Why the last command was refused. */
  refusal: string | null;
}

export interface Answer {
  isAccepted: boolean;
  message: string;
}

interface StepInputs {
  /** An Event, an alert, the command that confirms, and for a host that lives an Eviction in `observe`. */
  recommend: { what: 'fence' | 'evictLive' | 'mend'; message: string };
  /** The host lives: its servers are moved live, by an Eviction. */
  evictLive: { message: string };
  /** `isSilent`: it has power, and is taken for dead by a quorum. */
  powerOff: { cause: string; isSilent: boolean };
  useConfirmation: { confirmation: Confirmation };
  /** Disables the compute service with drover's reason, and forces it down. */
  forceDown: object;
  listServers: object;
  /** Whether the host is still off. */
  checkPower: object;
  /** In the background. */
  evacuate: { server: TrackedEvacuation };
  /** Something on the host shows life: nothing more is evacuated. */
  loseEvidence: { why: string };
  /** Takes back the forced down; the Testing checks decide whether the service is enabled. */
  restore: object;
  /** Deletes the Eviction that was only advice. */
  withdrawAdvice: object;
  /** Takes back the hold of the host. */
  release: object;
}

export type StepOf<Kind extends keyof StepInputs> = Step & { readonly kind: Kind } & StepInputs[Kind];
export type NodeFailureStep = { [Kind in keyof StepInputs]: StepOf<Kind> }[keyof StepInputs];

export interface NodeFailureLifecycle extends Lifecycle {
  input: NodeFailureInput;
  /** It has no object of its own, and no spec that could change. */
  desired: { uid: string; generation: number };
  observed: NodeFailureObservation;
  settings: HandlingSettings & Lifecycle['settings'];
  memory: NodeFailureMemory;
  step: NodeFailureStep;
  /** What the Hypervisor says of the failure. */
  status: Omit<ConditionUpdate, 'observedGeneration'>;
}
