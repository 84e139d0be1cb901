import { z } from 'zod';

import { type Condition, type ConditionUpdate, findCondition, setConditions } from '../../../contracts/conditions.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { errors } from '../../../contracts/errors.ts';
import type { EvictionOpened } from '../../../contracts/eviction/activities.ts';
import {
  bootIdAnnotation,
  onlyObserves,
  retryHandledAnnotation,
  runIdAnnotation,
} from '../../../contracts/eviction/annotations.ts';
import { evictingReasons, evictionConditions } from '../../../contracts/eviction/conditions.ts';
import type { DesiredEviction, EvictionInput } from '../../../contracts/eviction/eviction.ts';
import { annotations, evictionFinalizer, evictionId } from '../../../contracts/ids.ts';
import { pendingRetry } from '../../../contracts/kinds/requests.ts';
import { node } from '../../../contracts/kinds/resources.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources, typed } from '../../../runtime/kubernetes/resources.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';
import { readEvictionInput } from '../../lib/input.ts';
import { createEviction } from './create-eviction.ts';
import type { Tools } from './dependencies.ts';
import { isBare, type Opening, planOpening, waitingCondition } from './plan-opening.ts';
import { releaseEviction } from './publish-eviction.ts';

/**
 * Validates input given by hand, finds or makes the Eviction, and says what is to be done. Safe to repeat: what an
 * earlier attempt wrote is found and left.
 *
 * @param serving uid of the Eviction that the run serves already; null when it begins, and after it has ended one
 * @throws InvalidInput, InvalidObject, ModeOff, CauseNotSupported; what the client throws (contracts/errors.ts)
 */
export async function openEviction(tools: Tools, given: unknown, serving: string | null): Promise<EvictionOpened> {
  const { client, scope, mode, settings } = tools;
  const input = readGiven(given);
  const runId = scope.run?.runId ?? '';
  const isRightRun = scope.run?.workflowId === evictionId(input.hypervisor, settings.cluster);
  return await retryConflicts(async () => {
    const evictions = (await client.listValid(resources.Eviction, {}, scope.signal)).filter(
      ({ spec }) => spec.hypervisor === input.hypervisor,
    );
    const context = { input, serving, evictions, mode, isRightRun, runId };
    const opening = planOpening(context);
    if (opening.kind !== 'create') return await execute(tools, opening, serving, input.startedBy ?? null);
    const made = await createEviction(tools, input, runId);
    return await execute(
      tools,
      planOpening({ ...context, evictions: [...evictions, made] }),
      serving,
      input.startedBy ?? null,
    );
  });
}

/** Of a run that the bridge started the name may be no host's: that is said in the Eviction that has it. */
function readGiven(given: unknown): EvictionInput {
  const { hypervisor } = Object(given) as { hypervisor?: unknown };
  return typeof hypervisor === 'string' && isBare(Object(given) as object) ? { hypervisor } : readEvictionInput(given);
}

async function execute(
  tools: Tools,
  opening: Opening,
  serving: string | null,
  startedBy: string | null,
): Promise<EvictionOpened> {
  switch (opening.kind) {
    case 'nothing':
      for (const { metadata } of opening.held) await releaseEviction(tools, metadata);
      return { kind: 'nothing' };
    case 'refuse':
      throw droverFailure(opening.code, opening.detail);
    case 'create':
      throw droverFailure('ObjectConflict', 'The Eviction that was just made is reconciled already. Try again');
    case 'handOver': {
      const { metadata, spec } = opening.eviction;
      await tools.signalWithStartEviction(spec.hypervisor, startedBy);
      return {
        kind: 'handedOver',
        workflowId: evictionId(spec.hypervisor, tools.settings.cluster),
        eviction: metadata.name,
      };
    }
    case 'reject':
      if (opening.condition !== null) await reject(tools, opening.eviction, opening.condition);
      throw droverFailure(opening.code, `Eviction ${opening.eviction.metadata.name}: ${opening.detail}`);
    case 'serve':
      return await serve(tools, opening, serving);
  }
}

async function serve(
  tools: Tools,
  { eviction, desired, waiting }: Extract<Opening, { kind: 'serve' }>,
  serving: string | null,
): Promise<EvictionOpened> {
  // Where drover only observes, what the others say is not its to write.
  if (desired.mode === 'act')
    for (const other of waiting) await writeCondition(tools, other, waitingCondition(other, eviction));
  const itsNode = await observeNode(tools.client, desired.hypervisor, tools.scope.signal);
  const bootId = itsNode?.bootId ?? null;
  const served = desired.deleting
    ? eviction
    : serving === null
      ? await beginServing(tools, eviction, desired.mode, bootId)
      : await takeUpRetry(tools, eviction);
  const retry = served.metadata.annotations?.[annotations.retry];
  return {
    kind: 'run',
    desired,
    settings: tools.settings,
    bootId: served.metadata.annotations?.[bootIdAnnotation] ?? bootId,
    ...(retry !== undefined && { retry }),
  };
}

/** What of a Node decisions need, whatever else there is of it. */
const nodeSchema = z.object({
  status: z
    .object({
      nodeInfo: z.object({ bootID: z.string() }).optional(),
      conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
    })
    .optional(),
});

/** @returns `ready`: its condition Ready is True; null: there is no such Node */
export async function observeNode(
  client: KubernetesObjects,
  name: string,
  signal: AbortSignal,
): Promise<{ bootId: string; ready: boolean } | null> {
  const found = await client.get(typed(node, nodeSchema), { name }, signal);
  if (found === null) return null;
  const ready = found.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  return { bootId: found.status?.nodeInfo?.bootID ?? '', ready };
}

async function writeCondition(
  { client, scope, clock }: Tools,
  { metadata, status }: Eviction,
  update: ConditionUpdate,
): Promise<void> {
  const before = status?.conditions ?? [];
  const after = setConditions(before, [update], new Date(clock.now()).toISOString());
  if (after !== before)
    await client.patchStatus(resources.Eviction, metadata, { conditions: [...after] }, scope.signal);
}

/** A retry is answered by a refusal that is final: one that stays asked for would start a run again and again. */
async function reject(tools: Tools, eviction: Eviction, update: ConditionUpdate): Promise<void> {
  await writeCondition(tools, eviction, update);
  const retry = pendingRetry(eviction);
  if (retry === null || update.status !== 'False') return;
  // What was read is of an earlier version, if the condition has changed: only this annotation is written.
  const { name, uid } = eviction.metadata;
  const change = { metadata: { annotations: { [retryHandledAnnotation]: retry } } };
  await tools.client.patch(resources.Eviction, { name, uid }, change, tools.scope.signal);
}

type Mode = DesiredEviction['mode'];

/**
 * Marks the Eviction as served by this run. The status comes first: an Eviction whose retry counts as taken up must not
 * appear reconciled if this worker dies in between.
 *
 * @param bootId of the host's Node now; null where there is none
 */
async function beginServing(
  { client, scope, clock }: Tools,
  eviction: Eviction,
  mode: Mode,
  bootId: string | null,
): Promise<Eviction> {
  const conditions = beginConditions(eviction, mode, new Date(clock.now()));
  const patched =
    conditions === null
      ? eviction
      : await client.patchStatus(resources.Eviction, eviction.metadata, { conditions }, scope.signal);
  const change = beginMetadata(eviction, mode, scope.run?.runId ?? null, bootId);
  return change === null
    ? patched
    : await client.patch(resources.Eviction, patched.metadata, { metadata: change }, scope.signal);
}

/** A retry that is asked for while the Eviction is served is the run's: it must not begin another after its end. */
async function takeUpRetry({ client, scope }: Tools, eviction: Eviction): Promise<Eviction> {
  const asked = pendingRetry(eviction);
  if (asked === null) return eviction;
  const change = { annotations: { [retryHandledAnnotation]: asked } };
  return await client.patch(resources.Eviction, eviction.metadata, { metadata: change }, scope.signal);
}

/**
 * Conditions of an earlier run, that say nothing of the one that begins. Where drover only observes, all but its own
 * are another operator's.
 */
const ofEarlierRun: Record<Mode, readonly string[]> = {
  act: [
    evictionConditions.preflight,
    evictionConditions.migrating,
    evictionConditions.onTime,
    evictionConditions.reEnabled,
    evictionConditions.observed,
  ],
  observe: [],
};

/**
 * The conditions of an Eviction whose run begins; null when they say so already. Pure.
 *
 * @param asked the mode of the run
 */
export function beginConditions({ metadata, spec, status }: Eviction, asked: Mode, now: Date): Condition[] | null {
  const mode = onlyObserves(metadata, asked) ? 'observe' : 'act';
  const running: ConditionUpdate = {
    type: mode === 'act' ? evictionConditions.evicting : evictionConditions.observed,
    status: mode === 'act' ? 'True' : 'Unknown',
    reason: evictingReasons.running,
    message: `Opening ${spec.hypervisor}`,
    observedGeneration: metadata.generation,
  };
  const said = status?.conditions ?? [];
  const before = mode === 'observe' ? said.filter((condition) => !isSaidInVain(condition)) : said;
  // A run that takes over from one that was lost leaves its messages until it has newer ones.
  if (findCondition(before, running.type)?.status === running.status && before.length === said.length) return null;
  const kept = before.filter(({ type }) => !ofEarlierRun[mode].includes(type));
  return [...setConditions(kept, [running], now.toISOString())];
}

/**
 * Whether drover said so, in act mode, of an Eviction that it came to observe before it held it: that it runs, waits for
 * its turn, or is refused. Nothing would end that. The replaced operator's conditions have no generation.
 */
const isSaidInVain = ({ type, status, reason, observedGeneration }: Condition): boolean =>
  type === evictionConditions.evicting &&
  observedGeneration !== undefined &&
  (status !== 'False' || refusals.includes(reason));

const refusals: readonly string[] = [errors.InvalidObject.reason, errors.CauseNotSupported.reason];

/** What the metadata must say besides what it says; null: nothing. Pure. */
export function beginMetadata(
  { metadata }: Eviction,
  mode: Mode,
  runId: string | null,
  bootId: string | null,
): { annotations?: Record<string, string>; finalizers?: string[] } | null {
  const { annotations: there = {}, finalizers = [] } = metadata;
  const isHeld = finalizers.includes(evictionFinalizer);
  const wanted: Record<string, string | null | undefined> = {
    [runIdAnnotation]: runId,
    [retryHandledAnnotation]: there[annotations.retry],
    // One that is held began before this run: its node may have restarted since.
    [bootIdAnnotation]: isHeld ? (there[bootIdAnnotation] ?? bootId) : bootId,
  };
  const changed = Object.entries(wanted).flatMap(([key, value]) =>
    value === null || value === undefined || there[key] === value ? [] : [[key, value] as const],
  );
  const holds = mode === 'act' && !isHeld;
  if (changed.length === 0 && !holds) return null;
  return {
    ...(changed.length > 0 && { annotations: Object.fromEntries(changed) }),
    ...(holds && { finalizers: [...finalizers, evictionFinalizer] }),
  };
}
