import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';

import type { Instance, Migration } from '../../contracts/eviction/instance.ts';
import type { ColdRequest, MigrationStart, StartRequest } from '../../contracts/eviction/migrate-instance.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import { wordsOf } from '../openstack/faults.ts';
import type { InstanceDependencies, Tools } from './dependencies.ts';
import {
  type InstanceHistory,
  migrationInProgress,
  observationOf,
  observeInstance,
  readHistory,
} from './observe-instance.ts';
import type { RegionView } from './region-view.ts';

export type StartTools = Tools<InstanceDependencies> & { region: RegionView };

/** How long Nova may take from its 202 to the record; about 0.1 s when it is idle. Within the time of a short call. */
const recordDeadlineMs = 8_000;
const recordPollMs = { first: 50, most: 400, factor: 1.5 };

/**
 * Ids of the records that were there before the request: what proves, after a crash, that a new one is drover's own.
 */
const requestDetails: z.ZodType<ColdRequest> = z.object({ known: z.array(z.number()) });

/**
 * Asks Nova to move a server off its source, unless it is on its way already. Safe to repeat and to run twice at once:
 * the call that comes second finds the first one's migration. Nova checks nothing before it answers, so a migration
 * that starts may end at once (no valid host, failed pre-checks): the wait for it learns how.
 *
 * @throws Stopped, and what the Nova client throws
 * @see Compute API, "Live-Migrate Server" and "Migrate Server"
 */
export async function startMigration(
  tools: StartTools,
  kind: MoveKind,
  request: StartRequest,
): Promise<MigrationStart> {
  const earlier = requestDetails.safeParse(tools.scope.heartbeatDetails).data?.known ?? null;
  let asked = earlier;
  try {
    return await startOnce(tools, kind, request, earlier, (known) => (asked = known));
  } catch (error) {
    throw kind === 'cold' && asked !== null ? withRequest(error, { known: asked }) : error;
  }
}

/** This attempt may be the last one: then its failure is all that the run learns of the request. */
const withRequest = (error: unknown, request: ColdRequest): unknown =>
  error instanceof ApplicationFailure
    ? ApplicationFailure.create({
        message: error.message,
        ...(typeof error.type === 'string' && { type: error.type }),
        nonRetryable: error.nonRetryable ?? false,
        details: [...(error.details ?? []), request],
        ...(error.cause !== undefined && { cause: error.cause }),
      })
    : error;

async function startOnce(
  tools: StartTools,
  kind: MoveKind,
  request: StartRequest,
  earlier: readonly number[] | null,
  onAsked: (known: number[]) => void,
): Promise<MigrationStart> {
  const { nova, scope, region } = tools;
  const { instanceId, sourceHost, perTarget } = request;
  const [history, room] = await Promise.all([
    readHistory(nova, instanceId, scope.signal),
    region.room(sourceHost, perTarget, scope.signal),
  ]);
  const decision = decideStart(kind, request, history, earlier, tools.clock.now());
  switch (decision.do) {
    case 'adopt':
      return { outcome: 'started', migration: decision.migration };
    case 'giveBack':
      return { outcome: 'changed', observation: observationOf(history, tools.clock.now()) };
    case 'awaitRecord':
      return awaitRecord(tools, kind, request, earlier ?? idsOf(history));
    case 'request':
      return room === 'busy' ? { outcome: 'targetsBusy' } : askInPlace(tools, kind, request, history, onAsked);
  }
}

const idsOf = ({ migrations }: InstanceHistory): number[] => migrations.map(({ id }) => id);

/** Asks while it holds a place at the targets. */
async function askInPlace(
  tools: StartTools,
  kind: MoveKind,
  request: StartRequest,
  before: InstanceHistory,
  onAsked: (known: number[]) => void,
): Promise<MigrationStart> {
  const giveBack = tools.region.claim(request.sourceHost, request.perTarget);
  if (giveBack === null) return { outcome: 'targetsBusy' };
  try {
    return await ask(tools, kind, request, before, onAsked);
  } finally {
    giveBack();
  }
}

async function ask(
  tools: StartTools,
  kind: MoveKind,
  request: StartRequest,
  before: InstanceHistory,
  onAsked: (known: number[]) => void,
): Promise<MigrationStart> {
  const { nova, scope } = tools;
  const { instanceId, sourceHost, eviction } = request;
  const known = idsOf(before);
  try {
    const target = { host: null };
    const mutation = {
      action: kind === 'live' ? 'startLiveMigration' : 'startColdMigration',
      cause: `eviction ${eviction.name}`,
      object: `server/${instanceId}`,
      before: { host: sourceHost, vmState: before.instance?.vmState ?? null },
      after: { requested: 'another host, as the scheduler chooses' },
    };
    await mutate(tools, mutation, () => {
      scope.heartbeat({ known });
      onAsked(known);
      return kind === 'live'
        ? nova.liveMigrate(instanceId, target, scope.signal)
        : nova.coldMigrate(instanceId, target, scope.signal);
    });
  } catch (error) {
    return afterRefusal(tools, kind, request, known, error);
  }
  return awaitRecord(tools, kind, request, known);
}

/**
 * Nova refused, or gave no answer. If the server is on its way now, because of this request or of another that came at
 * the same moment (Nova answers 500 to one of two), that is as good as an answer.
 */
async function afterRefusal(
  tools: StartTools,
  kind: MoveKind,
  request: StartRequest,
  known: number[],
  error: unknown,
): Promise<MigrationStart> {
  const code = failureCode(error);
  if (code === 'InstanceNotFound') return { outcome: 'changed', observation: { instance: null, migration: null } };
  if (code === 'InstanceStateRefused' || code === 'MigrationRefused')
    return { outcome: 'refused', message: wordsOf(error) };
  if (code !== 'InstanceBusy' && code !== 'NovaUnavailable') throw error;
  const history = await readHistory(tools.nova, request.instanceId, tools.scope.signal);
  const decision = decideStart(kind, request, history, code === 'InstanceBusy' ? null : known, tools.clock.now());
  if (decision.do === 'adopt') return { outcome: 'started', migration: decision.migration };
  if (decision.do === 'awaitRecord') return awaitRecord(tools, kind, request, known);
  if (code === 'NovaUnavailable') throw error;
  return { outcome: 'changed', observation: observationOf(history, tools.clock.now()) };
}

/**
 * Waits for the record that Nova makes after its answer. Without one in time the server is observed and returned
 * as it is.
 *
 * @throws NovaUnavailable a cold migration has begun and has no record yet: only the next attempt still knows that it
 * is drover's own to confirm
 */
async function awaitRecord(
  tools: StartTools,
  kind: MoveKind,
  { instanceId, sourceHost }: StartRequest,
  known: readonly number[],
): Promise<MigrationStart> {
  const { nova, scope, clock, region } = tools;
  const untilMs = clock.now() + recordDeadlineMs;
  let migration: Migration | undefined;
  let pauseMs = recordPollMs.first;
  do {
    await clock.sleep(pauseMs, scope.signal);
    pauseMs = Math.min(pauseMs * recordPollMs.factor, recordPollMs.most);
    migration = newRecord(kind, sourceHost, await nova.migrationsOf(instanceId, scope.signal), known);
  } while (migration === undefined && clock.now() < untilMs);
  if (migration === undefined) {
    const observation = await observeInstance(tools, instanceId, scope.signal);
    if (isBeginning(kind, sourceHost, observation.instance))
      throw droverFailure(
        'NovaUnavailable',
        `Nova has taken the cold migration of server ${instanceId}, and has made no record of it within ${recordDeadlineMs / 1_000} s`,
      );
    return { outcome: 'changed', observation };
  }
  region.started(migration);
  return { outcome: 'started', migration };
}

export type MoveKind = 'live' | 'cold';

/** What to do about a request to move a server, from one observation of it. */
export type StartDecision =
  /** It stands on its source, idle and in a state that Nova moves. */
  | { do: 'request' }
  /** It is on its way already. */
  | { do: 'adopt'; migration: Migration }
  /** Nova has taken a request like ours; the record appears within moments. */
  | { do: 'awaitRecord' }
  /** It is not as the caller thought. */
  | { do: 'giveBack' };

const movable: Record<MoveKind, readonly string[]> = { live: ['active', 'paused'], cold: ['active', 'stopped'] };
const recordType: Record<MoveKind, string> = { live: 'live-migration', cold: 'migration' };
/** The tasks that Nova sets on the server before there is a record. */
const firstTask: Record<MoveKind, readonly string[]> = { live: ['migrating'], cold: ['resize_prep'] };

/** Whether Nova is about to make the record of a cold migration. */
const isBeginning = (kind: MoveKind, sourceHost: string, instance: Instance | null): boolean =>
  kind === 'cold' &&
  instance?.host === sourceHost &&
  instance.taskState !== null &&
  firstTask.cold.includes(instance.taskState);

/**
 * Decides what becomes of a start. Pure; each branch is a row of the table test. Nova refuses a second request for a
 * server, so the one in progress is what an earlier request of drover's own has led to, or does as well: a live
 * migration off the source serves its purpose no matter who asked for it. A cold one has to be confirmed later, which
 * only its owner may do (docs/rules.md#consent).
 *
 * @param known ids of the records that were there before an earlier attempt made its request; null where none was made
 */
export function decideStart(
  kind: MoveKind,
  { sourceHost, mayMoveLocked = true }: Pick<StartRequest, 'sourceHost' | 'mayMoveLocked'>,
  history: InstanceHistory,
  known: readonly number[] | null,
  nowMs: number,
): StartDecision {
  const { instance, migrations } = history;
  if (instance === null) return { do: 'giveBack' };
  // Also when it is over by now: then its end is what the caller needs, not a second attempt.
  const own = known === null ? undefined : newRecord(kind, sourceHost, migrations, known);
  if (own !== undefined) return { do: 'adopt', migration: own };
  const inProgress = migrationInProgress(history, nowMs);
  if (inProgress !== null) {
    const serves = kind === 'live' && inProgress.type === recordType.live && inProgress.sourceHost === sourceHost;
    return serves ? { do: 'adopt', migration: inProgress } : { do: 'giveBack' };
  }
  if (instance.host !== sourceHost) return { do: 'giveBack' };
  if (instance.taskState !== null) {
    const begins = firstTask[kind].includes(instance.taskState) && (kind === 'live' || known !== null);
    return begins ? { do: 'awaitRecord' } : { do: 'giveBack' };
  }
  if (instance.locked && !mayMoveLocked) return { do: 'giveBack' };
  return movable[kind].includes(instance.vmState) ? { do: 'request' } : { do: 'giveBack' };
}

/** The record that a request has led to: of that kind, off that host, and not there before. It may be over already. */
const newRecord = (
  kind: MoveKind,
  sourceHost: string,
  migrations: readonly Migration[],
  known: readonly number[],
): Migration | undefined =>
  migrations.find(
    ({ id, type, sourceHost: from }) => !known.includes(id) && type === recordType[kind] && from === sourceHost,
  );
