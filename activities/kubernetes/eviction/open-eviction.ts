import type { EvictionOpened } from '../../../contracts/eviction/activities.ts';
import { setConditions } from '../../../contracts/conditions.ts';
import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { bootIdAnnotation } from '../../../contracts/eviction/annotations.ts';
import { evictionId } from '../../../contracts/ids.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { beginServing } from './begin-serving.ts';
import { createEviction } from './create-eviction.ts';
import type { Tools } from './dependencies.ts';
import { releaseEviction } from './release-eviction.ts';
import { readEvictionInput } from '../../lib/input.ts';
import { planOpening, waitingCondition } from './plan-opening.ts';
import type { Opening } from './plan-opening.ts';
import { retryConflicts } from '../../../runtime/kubernetes/retry-conflicts.ts';

/**
 * Validates input given by hand, finds or makes the Eviction, and says what is to be done. Safe to repeat: what an earlier attempt wrote
 * is found and left.
 *
 * @param serving uid of the Eviction that the run serves already; null when it begins, and after it has ended one
 * @throws InvalidInput, InvalidObject, ModeOff, CauseNotSupported; what the client throws (contracts/errors.ts)
 */
export async function openEviction(tools: Tools, given: unknown, serving: string | null): Promise<EvictionOpened> {
  const { client, scope, mode, settings } = tools;
  const input = readEvictionInput(given);
  const runId = scope.run?.runId ?? '';
  const isRightRun = scope.run?.workflowId === evictionId(input.hypervisor, settings.cluster);
  return await retryConflicts(async () => {
    const evictions = (await client.listEvictions(scope.signal)).filter(
      ({ spec }) => spec.hypervisor === input.hypervisor,
    );
    const facts = { input, serving, evictions, mode, isRightRun, runId };
    const opening = planOpening(facts);
    if (opening.do !== 'create') return await carryOut(tools, opening, serving, input.startedBy ?? null);
    const made = await createEviction(tools, input, runId);
    return await carryOut(
      tools,
      planOpening({ ...facts, evictions: [...evictions, made] }),
      serving,
      input.startedBy ?? null,
    );
  });
}

async function carryOut(
  tools: Tools,
  opening: Opening,
  serving: string | null,
  startedBy: string | null,
): Promise<EvictionOpened> {
  switch (opening.do) {
    case 'nothing':
      for (const { metadata } of opening.held) await releaseEviction(tools, metadata);
      return { kind: 'nothing' };
    case 'refuse':
      throw droverFailure(opening.code, opening.detail);
    case 'create':
      throw droverFailure('ObjectConflict', 'The Eviction that was just made is settled already');
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
      if (opening.condition !== null) await writeCondition(tools, opening.eviction, opening.condition);
      throw droverFailure(opening.code, `Eviction ${opening.eviction.metadata.name}: ${opening.detail}`);
    case 'serve':
      return await serve(tools, opening, serving);
  }
}

async function serve(
  tools: Tools,
  { eviction, desired, waiting }: Extract<Opening, { do: 'serve' }>,
  serving: string | null,
): Promise<EvictionOpened> {
  // Where drover only observes, what the others say is not its to write.
  if (desired.mode === 'act')
    for (const other of waiting) await writeCondition(tools, other, waitingCondition(other, eviction));
  const node = await tools.client.getNode(desired.hypervisor, tools.scope.signal);
  const bootId = node?.bootId ?? null;
  const served =
    serving === null && !desired.deleting ? await beginServing(tools, eviction, desired.mode, bootId) : eviction;
  return {
    kind: 'run',
    desired,
    settings: tools.settings,
    bootId: served.metadata.annotations?.[bootIdAnnotation] ?? bootId,
  };
}

async function writeCondition(
  { client, scope, clock }: Tools,
  { metadata, status }: Eviction,
  update: ConditionUpdate,
): Promise<void> {
  const before = status?.conditions ?? [];
  const after = setConditions(before, [update], new Date(clock.now()).toISOString());
  if (after !== before) await client.patchEvictionStatus(metadata, { conditions: [...after] }, scope.signal);
}
