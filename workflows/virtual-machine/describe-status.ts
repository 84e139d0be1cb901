import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions as types } from '../../contracts/virtual-machine/conditions.ts';
import type { VirtualMachineDecision, VirtualMachineStatusPatch } from '../../contracts/virtual-machine/plan.ts';
import { dampStatus } from './damp-status.ts';
import { describeCreation, describeVm, no, yes } from './describe-conditions.ts';
import { describeFields } from './describe-fields.ts';
import { findOwn } from './plan/find-own.ts';
import { judgePlacement } from './plan/plan-create.ts';
import { judgePrerequisites } from './plan/judge-prerequisites.ts';
import type { Context } from './step.ts';
import { fullName } from './step.ts';

/**
 * Everything that a VirtualMachine says, from what was seen and what happens next; null: it says all of it already. Nothing is said to be so
 * that was not seen to be so. Source: seed 000 "Status Reconciliation Details".
 */
export function describeStatus(context: Context, decision: VirtualMachineDecision): VirtualMachineStatusPatch | null {
  const { desired, memory, observed } = context;
  const lifecycle = { ...describeLifecycle(decision), observedGeneration: desired.generation };
  const reconcile =
    decision.state === 'Paused'
      ? no(types.reconcileReady, 'VirtualMachineReconcilePaused', decision.next === 'done' ? decision.message : '')
      : yes(types.reconcileReady);
  // Paused by its owner, or not to be read: nothing is known, so nothing else is said.
  const isUnseen = memory.failures.some(({ phase }) => phase === 'observe');
  if (desired.paused || isUnseen)
    return damp(context, {}, { [types.lifecycle]: lifecycle, [types.reconcileReady]: reconcile });

  const found = findOwn(desired, observed.candidates);
  const vm = found.kind === 'own' && observed.vm?.moId === found.moId ? observed.vm : null;
  const judged = judgePrerequisites(desired, observed.prerequisites).filter(
    ({ type }) => vm === null || !neededOnce.includes(type),
  );
  const prerequisites = Object.fromEntries(judged.map(({ type, condition }) => [type, condition]));
  const given = Object.fromEntries(desired.givenConditions.map((condition) => [condition.type, condition]));
  const ofVm =
    vm === null
      ? {
          [types.created]: describeCreation(context, problemOf(decision)),
          [types.placementReady]: describePlacement(context),
        }
      : describeVm({ ...context, vm });
  return damp(context, vm === null ? {} : describeFields({ ...context, vm }), {
    ...prerequisites,
    ...ofVm,
    ...given,
    [types.reconcileReady]: reconcile,
    [types.lifecycle]: lifecycle,
  });
}

/** What a VM that exists was made from may be gone: that is no news of it. */
const neededOnce: readonly string[] = [types.imageReady, types.storageReady];

function damp(
  { observed }: Context,
  fields: VirtualMachineStatusPatch['fields'],
  said: Record<string, ConditionUpdate | null>,
): VirtualMachineStatusPatch | null {
  const conditions = Object.values(said).filter((update) => update !== null);
  const removed = Object.entries(said).flatMap(([type, update]) => (update === null ? [type] : []));
  return dampStatus(observed.recorded, { fields, conditions: keepImageTime(conditions, observed.recorded), removed });
}

/** The words of upstream have a time in them: the first one stays. */
function keepImageTime(conditions: ConditionUpdate[], recorded: Context['observed']['recorded']): ConditionUpdate[] {
  const before = findCondition(recorded.conditions, types.imageReady);
  return conditions.map((update) =>
    update.type === types.imageReady && update.status === 'True' && before?.status === 'True'
      ? { ...update, message: before.message }
      : update,
  );
}

function describePlacement(context: Context): ConditionUpdate {
  const type = types.placementReady;
  const { placement } = context.observed;
  const placed = judgePlacement(context);
  if (placed.kind === 'placed') return yes(type);
  const reason = placement.kind === 'zoneMismatch' ? 'ZoneMismatch' : placement.kind === 'error' ? 'Error' : 'NotReady';
  return no(type, reason, placed.message);
}

const problemOf = (decision: VirtualMachineDecision): string | null =>
  decision.next === 'done' && decision.end === 'rests' ? decision.message : null;

/** Where it is and what comes next: True where it should be, False at rest elsewhere, Unknown on its way. */
function describeLifecycle(decision: VirtualMachineDecision): ConditionUpdate {
  const { lifecycle: type } = types;
  if (decision.next === 'done')
    return {
      type,
      status: decision.end === 'rests' ? 'False' : 'True',
      reason: decision.state,
      message: decision.message,
    };
  const message = decision.next === 'wait' ? `Waiting for ${decision.for}` : (decision.steps[0]?.words ?? '');
  return { type, status: 'Unknown', reason: decision.state, message };
}

/** In mode `observe`: the one condition that is written. */
export function describeObserved(
  { desired, observed }: Context,
  decision: VirtualMachineDecision,
): VirtualMachineStatusPatch | null {
  const would =
    decision.next === 'act'
      ? `Would now: ${decision.steps.map(({ words }) => words).join('; ')}`
      : decision.next === 'wait'
        ? `Would wait for ${decision.for}`
        : decision.message;
  const condition = {
    type: types.observed,
    status: 'True' as const,
    reason: decision.state,
    message: `${fullName(desired)}: ${would}`,
    observedGeneration: desired.generation,
  };
  return dampStatus(observed.recorded, { fields: {}, conditions: [condition], removed: [] });
}
