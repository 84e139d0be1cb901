import type { VcenterWatchActivities, VcenterWatchRound } from '../../../contracts/virtual-machine/vcenter-watch.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import { whileBeating } from '../../lib/wait.ts';
import type { Vim } from '../client.ts';
import { retrieve } from '../properties.ts';
import { ownerPaths } from '../observation/read-vm.ts';
import { vmRef } from '../wire/values.ts';
import { openKnownVms, type KnownVms } from './known-vms.ts';
import { openSignalQueue, type SignalQueue } from './signal-queue.ts';
import { changedSince } from './sums.ts';
import { signalRuns } from './signal-runs.ts';
import type { WatchTools } from './tools.ts';
import { filterOf, rootsOf, watchUpdates } from './updates.ts';

/** For what is under way to end, before Temporal's time-out. */
const stopMs = 10_000;
const firstDelayMs = 500;
const longestDelayMs = 30_000;
/** A watch that lasted so long was well: the next loss is tried again soon. */
const wellAfterMs = 60_000;
/** How soon folders that were missing are searched again. */
const missingMs = 60_000;
/** The objects are not listed again sooner after they could not be: a list that fails may hold up the watch. */
const listAgainMs = 5_000;

/**
 * Watches the VMs in the folders of one vCenter for one round, and signals the runs of their objects what has changed.
 */
export async function watchVcenter(
  tools: WatchTools,
  { vcenter, memory: given }: Parameters<VcenterWatchActivities['watchVcenter']>[0],
): Promise<VcenterWatchRound> {
  if (vcenter !== tools.vcenter)
    throw droverFailure('InvalidInput', `A vCenter watch is {"vcenter": "${tools.vcenter}"} on this queue`);
  const { scope, clock, places } = tools;
  const round = { updates: 0, signalled: 0, inventories: 0 };
  const roots = rootsOf(places);
  if (!tools.wanted || roots.length === 0) return { wanted: false, vms: 0, owned: 0, ...round, memory: null };
  tools.meter.began(vcenter);
  const vms = openKnownVms();
  const queue = openSignalQueue(tools.recent, (vmId) => vms.digestOf(vmId));
  // A retry after a worker that died has its last heartbeat, which is newer than the input of the round.
  const memory = memoryIn(scope.heartbeatDetails) ?? given;
  const state = { version: '', trouble: null as string | null };
  const memoryText = (): string | null => (round.inventories === 0 ? memory : vms.sums('signalled'));
  const summary = (): VcenterWatchRound => ({
    wanted: true,
    vms: vms.count(),
    owned: vms.owned().length,
    ...round,
    memory: memoryText(),
  });
  const over = new AbortController();
  const signal = AbortSignal.any([scope.signal, tools.leaving, over.signal]);
  const cancelTimer = clock.schedule(
    () => over.abort(new Error('its time is over')),
    Math.min(Math.max(0, scope.deadlineMs - stopMs - clock.now()), longestTimerMs),
  );

  return whileBeating(
    tools,
    () => ({ ...state, waiting: queue.size(), vms: vms.count(), ...round, memory: memoryText() }),
    async () => {
      const signalling = signalRuns({ ...tools, signal, queue, vms, onSignalled: () => (round.signalled += 1) });
      try {
        await watchAgain({ ...tools, roots, signal, memory, vms, queue, round, state, recorded: { dueMs: 0 } });
      } finally {
        cancelTimer();
        over.abort(new Error('the watch is over'));
        await signalling;
      }
      scope.signal.throwIfAborted();
      return summary();
    },
  );
}

/** Timers do not take more. */
const longestTimerMs = 2 ** 31 - 1;

const memoryIn = (details: unknown): string | null => {
  const { memory } = Object(details) as { memory?: unknown };
  return typeof memory === 'string' ? memory : null;
};

interface WatchSession extends WatchTools {
  roots: readonly string[];
  signal: AbortSignal;
  memory: string | null;
  vms: KnownVms;
  queue: SignalQueue;
  round: { updates: number; inventories: number };
  state: { version: string; trouble: string | null };
  /** When the objects are to be listed that say which VM they have; null: they were, in this round. */
  recorded: { dueMs: number | null };
}

/**
 * Listens until the signal is aborted. What fails is begun anew: 0.5 s later at first, then after twice as long each
 * time, up to 30 s.
 */
async function watchAgain(session: WatchSession): Promise<void> {
  const { signal, clock, scope, vcenter, state } = session;
  for (let losses = 0; !signal.aborted;) {
    const sinceMs = clock.now();
    const vim = session.open();
    try {
      await watchOnce(session, vim);
      losses = 0;
    } catch (error) {
      if (!signal.aborted) {
        losses = clock.now() - sinceMs >= wellAfterMs ? 1 : losses + 1;
        state.trouble = redactedStart(isError(error) ? error.message : String(error), 600);
        scope.warn(`The VMs of vCenter ${vcenter} are not watched just now: ${state.trouble}`);
        await clock
          .sleep(Math.min(longestDelayMs, firstDelayMs * 2 ** (losses - 1)) * (0.5 + session.random() / 2), signal)
          .catch(() => undefined);
      }
    } finally {
      await vim.close();
    }
  }
}

/** One session. Ends by itself only to search again for folders that were missing. */
async function watchOnce(session: WatchSession, vim: Vim): Promise<void> {
  const { vcenter, roots, signal, vms, queue, round, state, recorded, meter, clock, scope } = session;
  const { searchIndex } = await vim.content(signal);
  if (searchIndex === undefined) throw droverFailure('AnswerMalformed', `vCenter ${vcenter} has no searchIndex`);
  const found = await Promise.all(
    roots.map((inventoryPath) => vim.call('FindByInventoryPath', searchIndex, { inventoryPath }, signal)),
  );
  const folders = found.filter((folder) => folder !== undefined);
  const untilMs = folders.length < roots.length ? clock.now() + missingMs : Infinity;
  if (folders.length === 0)
    throw droverFailure('VsphereObjectNotFound', `vCenter ${vcenter} has none of the folders ${roots.join(', ')}`);
  vms.beginInventory();
  let isInitial = true;
  for await (const { version, updates, completes } of watchUpdates(vim, filterOf(folders), signal)) {
    const unsure = vms.take(updates);
    await readOwners(vim, vms, unsure, signal);
    Object.assign(state, { version, trouble: null });
    const nowMs = clock.now();
    if (isInitial && completes) {
      isInitial = false;
      vms.endInventory();
      round.inventories += 1;
      meter.inventoried(vcenter);
      const isFirst = round.inventories === 1;
      const changes = vms.changes();
      if (isFirst) catchUp(session, nowMs);
      else for (const one of changes) queue.add(one, nowMs);
    } else if (!isInitial) {
      for (const one of vms.changes()) queue.add(one, nowMs);
      round.updates += updates.length;
    }
    if (!isInitial && recorded.dueMs !== null && nowMs >= recorded.dueMs) await findGone(session, vim, nowMs);
    meter.answered(vcenter, isInitial ? 0 : updates.length, vms.owned().length);
    if (nowMs >= untilMs)
      return scope.warn(`vCenter ${vcenter} does not have all of the folders ${roots.join(', ')}: searching again`);
  }
}

async function readOwners(vim: Vim, vms: KnownVms, vmIds: readonly string[], signal: AbortSignal): Promise<void> {
  if (vmIds.length === 0) return;
  const spec = {
    propSet: [{ type: 'VirtualMachine', pathSet: [...ownerPaths] }],
    objectSet: vmIds.map((id) => ({ obj: vmRef(id) })),
    reportMissingObjectsInResults: true,
  };
  const none = Object.fromEntries(ownerPaths.map((path) => [path, undefined]));
  for (const { ref, properties } of await retrieve(vim, spec, signal))
    vms.setOwner(ref.value, { ...none, ...properties });
}

/**
 * The first complete inventory: what was missed is unknown, so it is compared with what was signalled to runs before.
 * Where nothing is known, all runs are signalled, slowly.
 */
function catchUp({ memory, vms, queue }: WatchSession, nowMs: number): void {
  const { mayHaveChanged } = changedSince(memory, vms.sums('observed'));
  for (const { vmId, owner } of vms.owned()) {
    if (mayHaveChanged(vmId)) queue.addLater({ owner, vmId, causes: ['not watched for a while'] }, nowMs);
    else vms.signalled(vmId, vms.digestOf(vmId));
  }
}

/**
 * The owner of a VM that has gone while nothing watched is found by its object. Once in every round, whatever is
 * remembered: no memory has a VM whose run was not signalled in the round in which it went. Where the objects cannot be
 * listed, they are again, with a later answer of vCenter.
 */
async function findGone(session: WatchSession, vim: Vim, nowMs: number): Promise<void> {
  const { vms, queue, signal, clock, scope, vcenter, recorded } = session;
  try {
    const { about } = await vim.content(signal);
    const gone = (await session.listRecordedVms(signal)).filter(
      ({ vmId, managerId }) => managerId === about.instanceUuid && vms.digestOf(vmId) === null,
    );
    recorded.dueMs = null;
    for (const { namespace, name, uid, vmId } of gone)
      queue.addLater({ owner: { namespace, name, uid }, vmId, causes: ['gone'] }, nowMs);
  } catch (error) {
    signal.throwIfAborted();
    recorded.dueMs = clock.now() + listAgainMs;
    scope.warn(
      `Whose VMs of vCenter ${vcenter} are gone cannot be found out: ${redactedStart(isError(error) ? error.message : String(error), 600)}`,
    );
  }
}
