import { kindTable } from '../../contracts/kinds/table.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { onlyObserves } from '../../contracts/eviction/annotations.ts';
import { evictionConditions } from '../../contracts/eviction/conditions.ts';
import { disabledReasonPrefix, evictionFinalizer, evictionId, labels } from '../../contracts/ids.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Check } from './objects.ts';
import { concerns, eventsOf, evictionsOf, objectsOf } from './objects.ts';
import { hasEnded, serviceChanges } from './servers.ts';
import type { Snapshot } from './snapshot.ts';

/** What Evictions say, and what drover leaves at their hosts. */

const isDriven = ({ runs }: Snapshot, { spec: { hypervisor } }: Eviction): boolean =>
  runs.some(({ workflowId, status }) => workflowId === evictionId(hypervisor) && status === 'RUNNING');

/** 6: a reconciled Eviction has no finalizer, a terminal reason and its generation. */
export const reconciledIsReleased: Check = (world) => {
  const found: string[] = [];
  for (const eviction of evictionsOf(world)) {
    const { metadata } = eviction;
    if (!kindTable.Eviction.isReconciled(eviction, 'act') || metadata.deletionTimestamp !== undefined) continue;
    const [evicting, observed] = ['Evicting', 'Observed'].map((type) =>
      findCondition(eviction.status?.conditions, type),
    );
    // One that was switched to observe and ended so keeps what it said then, and is observed anew when it changes.
    const isObserved = onlyObserves(metadata, 'act') && observed?.observedGeneration === metadata.generation;
    const condition = isObserved ? observed : (evicting ?? observed);
    if (condition === undefined) {
      found.push(`Eviction ${metadata.name} is reconciled and says nothing`);
      continue;
    }
    const { reason, observedGeneration } = condition;
    const subject = `Eviction ${metadata.name} is ${reason}`;
    // A terminated run could not let go; the bridge may write the status only. The next run releases it, or the
    // deletion does. Of one that only waited for its Node, the bridge says so where that wait is said.
    const wasTerminated = [condition, findCondition(eviction.status?.conditions, evictionConditions.reEnabled)].some(
      (said) => said?.reason === 'Stopped' && said.message.includes(' was terminated by '),
    );
    // A run writes its result first, and lets go in the next call.
    const isEnding = !world.isQuiet && isDriven(world, eviction);
    if ((metadata.finalizers ?? []).includes(evictionFinalizer) && !wasTerminated && !isEnding)
      found.push(`${subject} and still carries ${evictionFinalizer}`);
    if (observedGeneration !== metadata.generation)
      found.push(`${subject} of generation ${observedGeneration}, and has ${metadata.generation}`);
    const isTerminal = !['Running', 'Paused', 'Stopping', 'AlreadyRunning'].includes(reason);
    if (!isTerminal) found.push(`Eviction ${metadata.name} is reconciled and says ${reason}`);
  }
  return found;
};

/**
 * drover's own changes of compute services, by its audit log and by Nova's journal: a worker may die before it has
 * logged one; and the tests'.
 */
function signedChanges(
  world: Snapshot,
): { host: string; atMs: number; enabled: boolean; by: 'drover' | 'test'; reason: string | null }[] {
  const { audit, ownChanges } = world;
  const journaled = serviceChanges(world)
    .filter(({ byDrover }) => byDrover)
    .map(({ host, atMs, enabled }) => ({ host, atMs, enabled, by: 'drover' as const, reason: null }));
  const logged = audit
    .filter(({ action }) => action === 'ensureServiceDisabled' || action === 'ensureServiceEnabled')
    .map((line) => ({
      ...line,
      after: line.after as { asked?: unknown; unanswered?: boolean; disabledReason?: string } | null,
    }))
    // What was refused was not done. A disable without an answer may have been, as Nova asks the host
    // before it answers.
    .filter(
      ({ action, after }) =>
        after?.asked === undefined || (after.unanswered === true && action === 'ensureServiceDisabled'),
    )
    .map(({ time, action, object, after }) => ({
      host: object.replace('compute-service/', ''),
      atMs: Date.parse(time),
      enabled: action === 'ensureServiceEnabled',
      by: 'drover' as const,
      reason: after?.disabledReason ?? null,
    }));
  return [...journaled, ...logged, ...ownChanges.map((change) => ({ ...change, by: 'test' as const }))].toSorted(
    (a, b) => a.atMs - b.atMs,
  );
}

/** 7: a disable carries the reason of who made it. */
export const disablesAreSigned: Check = (world) => {
  const changes = signedChanges(world);
  const found: string[] = [];
  for (const { host, status, disabledReason } of world.services) {
    if (status === 'enabled' || !concerns(world, host)) continue;
    const last = changes.findLast((change) => change.host === host);
    const reason = disabledReason ?? '';
    if (last === undefined || last.enabled)
      found.push(
        `the compute service of ${host} is disabled (${reason || 'no reason'}), and no known change has done it`,
      );
    else if (last.by === 'drover' && !reason.startsWith(disabledReasonPrefix))
      found.push(`drover disabled ${host}, and the reason is: ${reason || 'none'}`);
    else if (last.by === 'test' && reason !== last.reason)
      found.push(`${host} was disabled with "${last.reason}", and now the reason is "${reason}"`);
  }
  return found;
};

/** 8: who has left does not come back into the list, unless back to the host. */
export const listShrinks: Check = (world) => {
  const found: string[] = [];
  for (const [uid, events] of Map.groupBy(eventsOf(world, 'Eviction'), ({ object }) => object.metadata.uid)) {
    const left = new Set<string>();
    let before: readonly string[] = [];
    for (const { object } of events) {
      const { metadata, spec, status } = object;
      if (!concerns(world, spec.hypervisor)) break;
      const now = status?.outstandingInstances ?? [];
      for (const id of before) if (!now.includes(id)) left.add(id);
      for (const id of now) {
        if (!left.has(id) || cameBack(world, id, spec.hypervisor)) continue;
        const at = `resourceVersion ${metadata.resourceVersion}`;
        found.push(`Eviction ${metadata.name} (${uid}) lists server ${id} again at ${at}, after it had left`);
        left.delete(id);
      }
      before = now;
    }
  }
  return found;
};

const cameBack = ({ migrationEvents }: Snapshot, id: string, host: string): boolean =>
  migrationEvents.some((event) => {
    if (event.instanceId !== id) return false;
    return (
      (event.targetHost === host && hasEnded(event)) ||
      (event.sourceHost === host && ['reverted', 'error'].includes(event.status))
    );
  });

/** 11: a Migration that drover wrote says whose it is. */
export const migrationsAreOwned: Check = (world) => {
  const evictions = [...objectsOf(world, 'Eviction'), ...eventsOf(world, 'Eviction').map(({ object }) => object)];
  const known = new Set<string | undefined>(evictions.map(({ metadata }) => metadata.uid));
  return objectsOf(world, 'Migration').flatMap(({ metadata }) => {
    const isOurs = (metadata.managedFields ?? []).some(({ manager }) => manager === 'drover');
    const uid = metadata.labels?.[labels.evictionUid];
    if (!isOurs || known.has(uid)) return [];
    return [
      uid === undefined
        ? `Migration ${metadata.name} does not say whose it is`
        : `Migration ${metadata.name} belongs to ${uid}, and there was no such Eviction`,
    ];
  });
};
