import { defineUpdate, proxyActivities, setHandler } from '@temporalio/workflow';
import { longWait, shortCall, slotCall } from '../../../contracts/policies.ts';
import type { ObservationOf, RunSettings, Unobserved } from '../../../contracts/runs.ts';
import type { Situation, StepContext } from '../../../workflows/lib/lifecycle.ts';
import { describePlan, done, execute, type Plan, type Step, wait } from '../../../workflows/lib/plan.ts';
import { defineReconciler } from '../../../workflows/lib/reconciler.ts';

/**
 * A kind for tests, which takes every way that the driver has: a widget is built under a slot, cures, is resized, and
 * is inspected in the background.
 */

export interface WidgetName {
  namespace: string;
  name: string;
}

export interface WidgetStatus {
  state: string;
  reason: string;
  message: string;
  observedGeneration: number;
}

export interface DesiredWidget {
  uid: string;
  generation: number;
  deleting: boolean;
  isHeld: boolean;
  size: number;
}

export interface ObservedWidget {
  there: { size: number; curedMs: number } | null;
  status: WidgetStatus | null;
}

export type WidgetObservation = ObservationOf<DesiredWidget, ObservedWidget, RunSettings>;

export type WidgetChange = 'addFinalizer' | 'removeFinalizer' | 'build' | 'remove';
export type WidgetStep = Step & { kind: WidgetChange | 'resize' | 'inspect' };

interface WidgetLifecycle {
  input: WidgetName;
  desired: DesiredWidget;
  observed: ObservedWidget;
  settings: RunSettings;
  /** Size at which it was inspected last: nothing outside tells. */
  memory: { inspected: number | null };
  step: WidgetStep;
  status: WidgetStatus;
}

export interface WidgetActivities {
  observeWidget(name: WidgetName): Promise<WidgetObservation | Unobserved>;
  changeWidget(name: WidgetName, change: WidgetChange, size: number): Promise<void>;
  publishWidget(name: WidgetName, status: WidgetStatus, retryHandled: string | null): Promise<void>;
  releaseSlot(limit: string): Promise<void>;
  polishWidget(): Promise<string>;
}

/** They take seconds, and heartbeat. */
export interface WidgetWaits {
  resizeWidget(name: WidgetName, size: number): Promise<WidgetObservation>;
  inspectWidget(name: WidgetName): Promise<number>;
}

/** Repeated while the run is in the queue. */
export interface WidgetQueue {
  /** Resolves when it is granted, with whether the run was queued. */
  acquireSlot(name: WidgetName, status: WidgetStatus | null, retryHandled: string | null): Promise<boolean>;
}
/** Takes seconds, beside whatever the run does. */
export const polish = defineUpdate<string>('polish');

const step = (
  kind: WidgetStep['kind'],
  phase: string,
  more: Pick<Step, 'publish' | 'background'> = {},
): WidgetStep => ({
  kind,
  phase,
  summary: `${kind} the widget`,
  ...more,
});
const builds = { limit: 'builds' };

/** Pure. */
function plan({ desired, observed: { there }, memory, inFlight, nowMs }: Situation<WidgetLifecycle>): Plan<WidgetStep> {
  if (desired === null || (desired.deleting && !desired.isHeld))
    return done('gone', 'NotFound', 'There is no such widget');
  if (desired.deleting) {
    const removing = there === null ? [] : [step('remove', 'Removing')];
    return execute([...removing, step('removeFinalizer', 'Removing', { publish: 'before' })]);
  }
  if (desired.size > 100) return done('blocked', 'TooLarge', 'A widget has a size of 100 at most. Change spec.size');
  if (!desired.isHeld) return execute([step('addFinalizer', 'Building')]);
  if (there === null) return execute([step('build', 'Building')], builds);
  if (nowMs < there.curedMs) return wait('Curing', 'Curing', 'the widget to cure', there.curedMs, builds);
  if (there.size !== desired.size) return execute([step('resize', 'Resizing', { publish: 'beside' })]);
  if (memory.inspected === there.size) return done('reconciled', 'Reconciled', 'The widget is as wanted');
  if (inFlight.has('inspect')) return wait('Inspecting', 'Inspecting', 'the inspection to end');
  return execute([step('inspect', 'Inspecting', { background: 'inspect' })]);
}

const activities = proxyActivities<WidgetActivities>({ ...shortCall, taskQueue: 'widgets' });
const queue = proxyActivities<WidgetQueue>({ ...slotCall, taskQueue: 'widgets' });
const waits = proxyActivities<WidgetWaits>({ ...longWait(60_000), taskQueue: 'widgets' });

const change = ({ input, desired }: StepContext<WidgetLifecycle>, { kind }: WidgetStep): Promise<void> =>
  activities.changeWidget(input, kind as WidgetChange, desired?.size ?? 0);

export const reconcileWidget = defineReconciler<WidgetLifecycle>(
  { kind: 'Widget', input: ['namespace', 'name'] },
  {
    memory: { inspected: null },
    observe: activities.observeWidget,
    plan,
    execute: {
      addFinalizer: change,
      build: change,
      remove: change,
      removeFinalizer: change,
      async resize(context) {
        const { input, desired } = context;
        const size = desired?.size ?? 0;
        const isUnwanted = async (): Promise<boolean> => {
          const latest = await activities.observeWidget(input);
          return latest.kind !== 'observed' || latest.desired?.size !== size || latest.desired.deleting;
        };
        return { observation: await context.whileWanted(() => waits.resizeWidget(input, size), isUnwanted) };
      },
      async inspect({ input }) {
        const inspected = await waits.inspectWidget(input);
        return { applyResult: () => ({ inspected }), observation: 'unchanged' };
      },
    },
    status({ desired }, planned) {
      if (desired === null) return null;
      const { phase, reason, message } = describePlan(planned);
      return { state: phase, reason, message, observedGeneration: desired.generation };
    },
    isSaid: ({ status: said }, status) => JSON.stringify(status) === JSON.stringify(said),
    publish: ({ input }, status, retryHandled) => activities.publishWidget(input, status, retryHandled),
    listen() {
      setHandler(polish, () => activities.polishWidget());
    },
    slots: {
      queued: (_, limit) => wait('Queued', 'WaitingForSlot', `a slot of ${limit}`),
      acquire: ({ input }, _limit, _run, queued) =>
        queue.acquireSlot(input, queued?.status ?? null, queued?.retryHandled ?? null),
      release: (_, limit) => () => activities.releaseSlot(limit),
    },
  },
);
