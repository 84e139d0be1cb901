import { activityInfo, heartbeat, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { queuedFailure } from '../../../contracts/allowance.ts';
import { workflowQueue } from '../../../contracts/ids.ts';
import { digestMemo } from '../../../contracts/runs.ts';
import type { Simulation } from '../simulation.ts';
import type {
  WidgetActivities,
  WidgetChange,
  WidgetName,
  WidgetObservation,
  WidgetQueue,
  WidgetStatus,
  WidgetWaits,
} from './reconcile.ts';

/**
 * What is outside of the runs of widgets, on the simulation's clock: their objects, a bridge, the widgets, a limit of
 * one slot.
 */

interface WidgetObject {
  uid: string;
  generation: number;
  deleting: boolean;
  isHeld: boolean;
  size: number;
  retry: string | null;
  retryHandled: string | null;
  status: WidgetStatus | null;
}

export interface WorldOptions {
  mode?: 'observe' | 'act';
  /** How long a new widget cures. */
  cureMs?: number;
}

export const settings = { mode: 'act', recheckMs: 600_000, lingerMs: 2_000, publishMinMs: 2_000 } as const;
export const workflowIdOf = ({ namespace, name }: WidgetName): string => `widget/${namespace}/${name}`;

export type World = ReturnType<typeof createWorld>;

export function createWorld(simulation: Simulation, { mode = 'act', cureMs = 5_000 }: WorldOptions = {}) {
  const objects = new Map<string, WidgetObject>();
  const widgets = new Map<string, { size: number; curedMs: number }>();
  const holders = new Map<string, { workflowId: string; runId: string }>();
  const queued = new Map<string, { workflowId: string; runId: string; activityId: string }>();
  const lastPublished = new Map<string, { atMs: number; state: string }>();
  const violations = new Set<string>();
  const refusedMs = new Map<string, number>();
  const refused = new Set<string>();
  const state = {
    refuseNext: false,
    /** What is refused, by the names of activities, until it is taken out. */
    refusedAlways: new Set<string>(),
    /** Changes that are accepted, and change nothing, until they are taken out. */
    skippedAlways: new Set<WidgetChange>(),
    /** Nothing cuts a back-off short, so it is checked. */
    backsOff: false,
    polished: 0,
  };
  let uids = 0;

  const find = (name: WidgetName): WidgetObject | undefined => objects.get(workflowIdOf(name));

  /** Of a name that nothing has, too: the bridge knows a moment less, or more, than the run. */
  const digestOf = (name: WidgetName): string => {
    const { uid = '', generation = 0 } = find(name) ?? {};
    return `${uid}/${generation}`;
  };

  /** As the bridge does: of what drover writes itself, it tells nothing. */
  function write(name: WidgetName, object: WidgetObject, cause: string | null): void {
    const id = workflowIdOf(name);
    if (object.deleting && !object.isHeld) objects.delete(id);
    else objects.set(id, object);
    if (cause !== null) notify(name, cause);
  }

  function notify(name: WidgetName, cause: string): void {
    const { uid = '', generation = 0 } = find(name) ?? {};
    void simulation.client.workflow.signalWithStart('reconcileWidget', {
      workflowId: workflowIdOf(name),
      taskQueue: workflowQueue(''),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ namespace: name.namespace, name: name.name }],
      signal: 'objectChanged',
      signalArgs: [{ uid, generation, resourceVersion: '', cause }],
      memo: { [digestMemo]: digestOf(name) },
    });
  }

  function observe(name: WidgetName): WidgetObservation {
    const object = find(name);
    const { uid = '', generation = 0, deleting = false, isHeld = false, size = 0, status = null } = object ?? {};
    const { retry = null, retryHandled = null } = object ?? {};
    return {
      kind: 'observed',
      desired: object === undefined ? null : { uid, generation, deleting, isHeld, size },
      observed: { there: widgets.get(workflowIdOf(name)) ?? null, status },
      settings: { ...settings, mode },
      digest: digestOf(name),
      retry: retry === retryHandled ? null : retry,
    };
  }

  const isOpen = async ({ workflowId, runId }: { workflowId: string; runId: string }): Promise<boolean> =>
    (await simulation.client.workflow.getHandle(workflowId, runId).describe()).status.name === 'RUNNING';
  const caller = () => activityInfo().workflowExecution as { workflowId: string; runId: string };
  const heartbeating = async (ms: number): Promise<void> => {
    for (let waitedMs = 0; waitedMs < ms; waitedMs += 500) {
      heartbeat();
      await sleep(500);
    }
  };

  /**
   * A holder that has closed without a release is noticed here.
   * @param asking run id of one whose activity is running
   */
  async function grant(asking?: string): Promise<void> {
    for (const [runId, holder] of [...holders, ...queued]) {
      if (await isOpen(holder)) continue;
      holders.delete(runId);
      queued.delete(runId);
    }
    const [next] = queued;
    if (holders.size > 0 || next === undefined) return;
    const [runId, holder] = next;
    queued.delete(runId);
    holders.set(runId, holder);
    if (runId === asking) return;
    const { workflowId, activityId } = holder;
    await simulation.client.activity.complete({ workflowId, runId, activityId }, true).catch(() => undefined);
  }

  const activities: WidgetActivities & WidgetQueue & WidgetWaits = {
    observeWidget: async (name) => observe(name),
    async changeWidget(name, change, size) {
      const id = workflowIdOf(name);
      const object = find(name);
      if (state.skippedAlways.has(change)) return;
      if (change === 'addFinalizer' || change === 'removeFinalizer') {
        const isHeld = change === 'addFinalizer';
        if (object !== undefined && !(isHeld && object.deleting)) write(name, { ...object, isHeld }, null);
      }
      if (change === 'build') {
        if (!holders.has(caller().runId)) violations.add('built without a slot');
        if (object?.isHeld !== true) violations.add('built before the finalizer was on it');
        if (!widgets.has(id)) widgets.set(id, { size, curedMs: simulation.clock.nowMs + cureMs });
      }
      if (change === 'remove') widgets.delete(id);
    },
    async resizeWidget(name, size) {
      await heartbeating(4_000);
      const there = widgets.get(workflowIdOf(name));
      if (there !== undefined) widgets.set(workflowIdOf(name), { ...there, size });
      return observe(name);
    },
    async inspectWidget(name) {
      await heartbeating(3_000);
      return widgets.get(workflowIdOf(name))?.size ?? 0;
    },
    async publishWidget(name, status, retryHandled) {
      const object = find(name);
      if (object === undefined) return;
      const { scheduledTimestampMs: atMs, attempt } = activityInfo();
      const { runId } = caller();
      const last = lastPublished.get(runId);
      const isLast = ['Reconciled', 'Blocked', 'Removing', 'Gone'].includes(status.state);
      // A task of the workflow takes some milliseconds.
      if (attempt === 1 && last !== undefined && !isLast && atMs - last.atMs < settings.publishMinMs - 25)
        violations.add(`${last.state} and ${status.state} published ${atMs - last.atMs} ms apart`);
      lastPublished.set(runId, { atMs, state: status.state });
      write(name, { ...object, status, retryHandled: retryHandled ?? object.retryHandled }, null);
    },
    async acquireSlot(name, status, retryHandled) {
      const { runId } = caller();
      const { activityId, attempt } = activityInfo();
      if (!holders.has(runId)) queued.set(runId, { ...caller(), activityId });
      await grant(runId);
      if (holders.has(runId)) return attempt > 1;
      const object = find(name);
      if (object !== undefined && status !== null)
        write(name, { ...object, status, retryHandled: retryHandled ?? object.retryHandled }, null);
      throw ApplicationFailure.create({ type: queuedFailure, message: 'Queued', nextRetryDelay: 60_000 });
    },
    async releaseSlot() {
      const { runId } = caller();
      holders.delete(runId);
      queued.delete(runId);
      await grant();
    },
    async polishWidget() {
      await sleep(2_000);
      state.polished += 1;
      return 'polished';
    },
  };

  /** An outside system may refuse what it is asked. */
  function refuse(activity: string): void {
    const sinceMs = simulation.clock.nowMs - (refusedMs.get(activity) ?? -Infinity);
    // A status that is refused is said with the next one, and a slot is released by itself.
    if (state.backsOff && sinceMs < 9_000 && !/^(?:publish|release|polish)/u.test(activity))
      violations.add(`${activity} again ${sinceMs} ms after it was refused`);
    if (!state.refuseNext && !state.refusedAlways.has(activity)) return;
    state.refuseNext = false;
    refused.add(activity);
    refusedMs.set(activity, simulation.clock.nowMs);
    throw ApplicationFailure.create({
      type: 'KubernetesForbidden',
      message: `${activity} is refused`,
      nonRetryable: true,
    });
  }

  /**
   * What does not hold, a sentence each, once nothing moves any more.
   * @param maySay with such a message it may rest elsewhere
   */
  function judge(name: WidgetName, maySay: RegExp | null = null): string[] {
    const found = [...violations];
    violations.clear();
    const open = simulation.openRuns();
    if (open.length > 0) found.push(`open runs are left: ${open.join(', ')}`);
    if (holders.size + queued.size > 0 && !refused.has('releaseSlot')) found.push('a slot is left behind');
    const object = find(name);
    const { message = '', state: said = 'nothing', observedGeneration } = object?.status ?? {};
    if (object !== undefined && maySay?.test(message) === true) return found;
    const isReconciled = said === 'Reconciled' && observedGeneration === object?.generation && !object?.deleting;
    if (object !== undefined && !isReconciled) found.push(`it says ${said}: ${message}`);
    if (object !== undefined && object.retry !== object.retryHandled) found.push('a retry is not answered');
    const size = widgets.get(workflowIdOf(name))?.size;
    if (object?.size !== size)
      found.push(`wanted a widget of ${object?.size ?? 'none'}, there is one of ${size ?? 'none'}`);
    return found;
  }

  return Object.assign(state, {
    activities: Object.fromEntries(
      Object.entries(activities).map(([activity, call]: [string, (...args: never[]) => Promise<unknown>]) => [
        activity,
        async (...args: never[]) => {
          refuse(activity);
          return await call(...args);
        },
      ]),
    ),
    /** A slot that cannot be released is left to the limit. */
    forgiveSlots: () => void refused.add('releaseSlot'),
    /** Nothing tells the runs. */
    cure: (name: WidgetName) => {
      const there = widgets.get(workflowIdOf(name));
      if (there !== undefined) widgets.set(workflowIdOf(name), { ...there, curedMs: simulation.clock.nowMs });
    },
    notify,
    judge,
    find,
    digestOf,
    /** @param cause null: nothing tells the runs */
    create(name: WidgetName, size: number, cause: string | null = 'created'): void {
      const uid = `uid-${(uids += 1)}`;
      const object = { uid, generation: 1, deleting: false, isHeld: false, size };
      write(name, { ...object, retry: null, retryHandled: null, status: null }, cause);
    },
    change(name: WidgetName, size: number): void {
      const object = find(name);
      if (object === undefined || object.deleting) return;
      write(name, { ...object, size, generation: object.generation + 1 }, 'spec');
    },
    askRetry(name: WidgetName, retry: string): void {
      const object = find(name);
      if (object !== undefined) write(name, { ...object, retry }, 'retry');
    },
    remove(name: WidgetName): void {
      const object = find(name);
      if (object !== undefined)
        write(name, { ...object, deleting: true, generation: object.generation + 1 }, 'deleted');
    },
  });
}
