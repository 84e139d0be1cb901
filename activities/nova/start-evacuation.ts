import { z } from 'zod';

import type { Migration } from '../../contracts/eviction/instance.ts';
import type { MigrationStart } from '../../contracts/eviction/migrate-instance.ts';
import type { EvacuationRequest } from '../../contracts/node-failure/fencing.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import { wordsOf } from '../openstack/faults.ts';
import type { Consumer, PlacementClient } from '../placement/types.ts';
import { readService } from './ensure-service.ts';
import type { Tools } from './dependencies.ts';
import { hasEnded } from './judge-migration.ts';
import { type InstanceHistory, observationOf, observeInstance, readHistory } from './observe-instance.ts';
import type { StartDecision } from './start-migration.ts';

export type EvacuationTools = Tools & { placement: PlacementClient };

/**
 * How long to wait for the record. It is there with Nova's answer; where none came, a Nova that is overloaded may take
 * up the request later.
 */
const recordDeadlineMs = 8_000;
const recordPollMs = 200;

/**
 * Ids of the records that were there before the request: what proves, after a crash, that a new one is drover's own.
 */
const requestDetails = z.object({ known: z.array(z.number()) });

/**
 * Has Nova start a server of a dead host elsewhere, unless it is on its way already. Only from a host that is forced
 * down: that is the proof that it was fenced, and a service that is merely down may still run its guests. Safe to
 * repeat and to run twice at once: the call that comes second finds the first one's record. Nova schedules after it has
 * answered, so the outcome is read from the record.
 *
 * Nova itself takes two requests that come at the same moment, and starts the server twice: on one host the second one
 * leaves the healthy server in ERROR, on two hosts it would run twice. So the first to ask writes the server's
 * allocations in Placement once more as they are, which only one of several that have observed the same can do.
 *
 * @returns never `targetsBusy`
 * @throws HostNotFenced, HostNotFound, Stopped, and what the Nova client throws
 * @see Compute API, "Evacuate Server", microversion 2.94: the server comes up as it was
 */
export async function startEvacuation(tools: EvacuationTools, request: EvacuationRequest): Promise<MigrationStart> {
  const { nova, placement, scope } = tools;
  // Read before the server: the claim covers what is observed after it.
  const consumer = await placement.consumer(request.instanceId, scope.signal);
  const [history, service] = await Promise.all([
    readHistory(nova, request.instanceId, scope.signal),
    readService(tools, request.sourceHost),
  ]);
  const earlier = requestDetails.safeParse(scope.heartbeatDetails).data?.known ?? null;
  const decision = decideEvacuation(request.sourceHost, history, earlier);
  switch (decision.do) {
    case 'adopt':
      return { outcome: 'started', migration: decision.migration };
    case 'giveBack':
      return { outcome: 'changed', observation: observationOf(history, tools.clock.now()) };
    case 'awaitRecord':
      return awaitRecord(tools, request, earlier ?? idsOf(history));
    case 'request':
      if (!service.forcedDown)
        throw droverFailure(
          'HostNotFenced',
          `${request.sourceHost} is ${service.state} and not forced down, so server ${request.instanceId} may still run there`,
        );
      return ask(tools, request, history, consumer);
  }
}

const idsOf = ({ migrations }: InstanceHistory): number[] => migrations.map(({ id }) => id);

async function ask(
  tools: EvacuationTools,
  request: EvacuationRequest,
  before: InstanceHistory,
  consumer: Consumer | null,
): Promise<MigrationStart> {
  const { nova, scope } = tools;
  const { instanceId, sourceHost, targetHost, incident } = request;
  const known = idsOf(before);
  if (!(await claim(tools, request, consumer))) return awaitRecord(tools, request, known);
  try {
    const mutation = {
      action: 'startEvacuation',
      cause: `incident ${incident}`,
      object: `server/${instanceId}`,
      before: { host: sourceHost, vmState: before.instance?.vmState ?? null },
      after: { requested: targetHost ?? 'another host, as the scheduler chooses' },
    };
    await mutate(tools, mutation, () => {
      scope.heartbeat({ known });
      return nova.evacuate(instanceId, { host: targetHost }, scope.signal);
    });
  } catch (error) {
    return afterRefusal(tools, request, known, error);
  }
  return awaitRecord(tools, request, known);
}

/**
 * Whether no other run is about to ask. What Placement lets no client write cannot be claimed, and must not keep a
 * server on a dead host.
 */
async function claim(
  tools: EvacuationTools,
  { instanceId, incident }: EvacuationRequest,
  consumer: Consumer | null,
): Promise<boolean> {
  if (consumer === null) return true;
  const mutation = {
    action: 'claimEvacuation',
    cause: `incident ${incident}`,
    object: `allocations/${instanceId}`,
    before: { generation: consumer.generation },
    after: { generation: 'the next, with the same allocations' },
  };
  try {
    await mutate(tools, mutation, () => tools.placement.rewriteConsumer(instanceId, consumer, tools.scope.signal));
    return true;
  } catch (error) {
    const code = failureCode(error);
    if (code === 'ConsumerConflict') return false;
    if (code === 'RequestRefused') return true;
    throw error;
  }
}

/**
 * Nova refused, or gave no answer. If the server is on its way now, because of this request or of another, that is as
 * good as an answer.
 */
async function afterRefusal(
  tools: Tools,
  request: EvacuationRequest,
  known: readonly number[],
  error: unknown,
): Promise<MigrationStart> {
  const code = failureCode(error);
  if (code === 'InstanceNotFound') return { outcome: 'changed', observation: { instance: null, migration: null } };
  if (code === 'InstanceStateRefused' || code === 'MigrationRefused' || code === 'HostUp')
    return { outcome: 'refused', message: wordsOf(error) };
  if (code !== 'InstanceBusy' && code !== 'NovaUnavailable') throw error;
  const history = await readHistory(tools.nova, request.instanceId, tools.scope.signal);
  const decision = decideEvacuation(request.sourceHost, history, known);
  if (decision.do === 'adopt') return { outcome: 'started', migration: decision.migration };
  if (decision.do === 'awaitRecord') return awaitRecord(tools, request, known);
  return { outcome: 'changed', observation: observationOf(history, tools.clock.now()) };
}

/** Without a record in time the server is observed and returned as it is. */
async function awaitRecord(
  { nova, scope, clock }: Tools,
  { instanceId, sourceHost }: EvacuationRequest,
  known: readonly number[],
): Promise<MigrationStart> {
  const untilMs = clock.now() + recordDeadlineMs;
  for (;;) {
    const migration: Migration | undefined = newEvacuation(
      sourceHost,
      await nova.migrationsOf(instanceId, scope.signal),
      known,
    );
    if (migration !== undefined) return { outcome: 'started', migration };
    if (clock.now() >= untilMs)
      return { outcome: 'changed', observation: await observeInstance({ nova, clock }, instanceId, scope.signal) };
    await clock.sleep(recordPollMs, scope.signal);
  }
}

/** The states in which Nova evacuates a server. */
const evacuable: readonly string[] = ['active', 'stopped', 'error'];

/**
 * Tasks of a server that only its host works at: they died with it, and Nova (as of 27.0) evacuates the server all the
 * same. One that moves may run at its target, and one that is deleted must not come back.
 */
const tasksOfItsHost: readonly string[] = [
  'powering-off',
  'powering-on',
  'rebooting',
  'reboot_pending',
  'reboot_started',
  'rebooting_hard',
  'reboot_pending_hard',
  'reboot_started_hard',
  'pausing',
  'unpausing',
  'suspending',
  'resuming',
  'image_snapshot',
  'image_snapshot_pending',
  'image_pending_upload',
  'image_uploading',
  'image_backup',
  'updating_password',
];

/**
 * Decides what becomes of a request to evacuate, from one observation of the server. Pure; each branch is a row of the
 * table test. An evacuation off the same host that is under way serves, no matter who asked for it: Nova takes no
 * second one.
 *
 * @param known ids of the records that were there before an earlier attempt made its request; null where none was made
 */
export function decideEvacuation(
  sourceHost: string,
  { instance, migrations }: InstanceHistory,
  known: readonly number[] | null,
): StartDecision {
  if (instance === null) return { do: 'giveBack' };
  // Also when it is over by now: then its end is what the caller needs, not a second attempt.
  const own = known === null ? undefined : newEvacuation(sourceHost, migrations, known);
  if (own !== undefined) return { do: 'adopt', migration: own };
  const underWay = migrations.find((migration) => isEvacuation(sourceHost, migration) && !hasEnded(migration));
  if (underWay !== undefined) return { do: 'adopt', migration: underWay };
  if (instance.host !== sourceHost) return { do: 'giveBack' };
  // Nova writes the task before the record.
  if (instance.taskState === 'rebuilding') return { do: 'awaitRecord' };
  const { taskState, vmState } = instance;
  // Another migration that never ended died with its host; Nova's own answer says whether it stands in the way.
  const isFree = taskState === null || tasksOfItsHost.includes(taskState);
  if (!isFree || !evacuable.includes(vmState)) return { do: 'giveBack' };
  // What got no answer may still arrive, and a second request would start the server twice.
  return known === null ? { do: 'request' } : { do: 'awaitRecord' };
}

const isEvacuation = (sourceHost: string, { type, sourceHost: from }: Migration): boolean =>
  type === 'evacuation' && from === sourceHost;

/** The record that a request has led to. It may be over already. */
const newEvacuation = (
  sourceHost: string,
  migrations: readonly Migration[],
  known: readonly number[],
): Migration | undefined =>
  migrations.find((migration) => !known.includes(migration.id) && isEvacuation(sourceHost, migration));
