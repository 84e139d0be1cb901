/** The one language of plans. Pure data: a planner decides, the driver (reconciler.ts) executes. */

/** One thing of a plan. A kind adds its own fields: the input of the step. */
export interface Step {
  /** Selects the function that executes it. */
  readonly kind: string;
  /**
   * What it does, for people: beside the activity in the Web UI, in the status, and in what `observe` mode would do.
   */
  readonly summary: string;
  /** Of the lifecycle; the search attribute DroverPhase. */
  readonly phase: string;
  /**
   * When the status says so. `before`: the object may be gone afterwards, or a user would never learn of it. `beside`:
   * the step takes long. Left out: with what comes next, as most steps are over in the time that publishing takes.
   */
  readonly publish?: 'before' | 'beside';
  /** The step runs while the plan goes on. The value is its lock, and the planner finds it in `inFlight`. */
  readonly background?: string;
}

/** Leave to work under a limit that several runs share, such as the creates of one vCenter. */
export interface SlotRequest {
  readonly limit: string;
  /** One that is held is kept, and none is acquired: what needs it has begun, or is being undone. */
  readonly onlyKept?: true;
  /** What comes after the steps needs it: an activity of them may acquire it, and it is not waited for. */
  readonly ahead?: true;
}

/** A condition reason: CamelCase, for machines. */
export type Reason = string;

export interface Execute<S extends Step> {
  readonly kind: 'execute';
  /** One after the other. A failure, a newer spec or a cancel ends them, and the next pass decides anew. */
  readonly steps: readonly S[];
  /**
   * The driver acquires it first, and says that it waits for it. A plan that names none releases the slot that
   * the run holds.
   */
  readonly slot?: SlotRequest;
}

export interface Wait {
  readonly kind: 'wait';
  readonly phase: string;
  readonly reason: Reason;
  /** What is waited for, so that `Waiting for ${message}` is a sentence, and what a user can do about it. */
  readonly message: string;
  /** Unix ms; null: until a message comes, and at the latest after the kind's `recheckMs`. */
  readonly untilMs: number | null;
  /** A slot that is held is kept meanwhile; none is acquired. */
  readonly slot?: SlotRequest;
}

export interface Done {
  readonly kind: 'done';
  /** As kstatus has them: Current, Stalled (a user has to do something), NotFound. */
  readonly outcome: 'reconciled' | 'blocked' | 'gone';
  readonly reason: Reason;
  readonly message: string;
}

export type Plan<S extends Step> = Execute<S> | Wait | Done;

export const execute = <S extends Step>(steps: readonly S[], slot?: SlotRequest): Execute<S> => ({
  kind: 'execute',
  steps,
  ...(slot && { slot }),
});

export const wait = (
  phase: string,
  reason: Reason,
  message: string,
  untilMs: number | null = null,
  slot?: SlotRequest,
): Wait => ({ kind: 'wait', phase, reason, message, untilMs, ...(slot && { slot }) });

export const done = (outcome: Done['outcome'], reason: Reason, message: string): Done => ({
  kind: 'done',
  outcome,
  reason,
  message,
});

const phaseOf = { reconciled: 'Reconciled', blocked: 'Blocked', gone: 'Gone' } as const;

/** What a plan says to people. Pure. */
export function describePlan(plan: Plan<Step>): { phase: string; reason: Reason; message: string } {
  const { kind } = plan;
  if (kind === 'wait') return { phase: plan.phase, reason: plan.reason, message: `Waiting for ${plan.message}` };
  if (kind === 'done') return { phase: phaseOf[plan.outcome], reason: plan.reason, message: plan.message };
  const { phase = 'Executing', summary = 'Nothing' } = plan.steps[0] ?? {};
  return { phase, reason: 'Executing', message: summary };
}

/** What a plan would do, for a kind whose mode is `observe`. Pure. */
export const describeIntent = (plan: Plan<Step>): string =>
  plan.kind === 'execute'
    ? plan.steps.map(({ summary }) => summary).join('; ')
    : `${plan.kind === 'wait' ? 'wait for ' : ''}${plan.message}`;
