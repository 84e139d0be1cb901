import { no, virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import { extraConfigKeys, readPolicyTags } from '../../../contracts/virtual-machine/metadata.ts';
import type { ObservedVm, Stage } from '../../../contracts/virtual-machine/observation.ts';
import {
  type EvaluationChange,
  evaluationName,
  type EvaluationSpec,
  isSameEvaluation,
  type PolicyResult,
  type WantedPolicies,
} from '../../../contracts/virtual-machine/policies.ts';
import { execute, success, wait, type Context, type Outcome, type VmContext } from './context.ts';
import { guestFamilyOf } from './guest-family.ts';
import { falseSinceMs, intervalMs } from './observe-again.ts';

const type = virtualMachineConditions.policiesSynced;

/** What the policies of a VM come to. */
export interface JudgedPolicies {
  /** Has them evaluated anew; null: there is nothing to write. */
  change: EvaluationChange | null;
  /** What is waited for, for the sentence that begins with `Waiting for`; null: they are evaluated. */
  pending: string | null;
  /** Those that apply; null: not known yet. */
  results: PolicyResult[] | null;
}

/** @param vm null: it is not made yet @returns null: none are evaluated. Pure. */
export function judgePolicies(context: Context, vm: ObservedVm | null): JudgedPolicies | null {
  const { desired, observed } = context;
  const { policies: wanted } = desired;
  const { policies: found } = observed;
  if (wanted === undefined || found === undefined || !found.served) return null;
  const { problem, evaluation } = found;
  const name = `PolicyEvaluation ${desired.namespace}/${evaluationName(desired.name)}`;
  const waiting = (pending: string, change: EvaluationChange | null = null): JudgedPolicies => ({
    change,
    pending,
    results: null,
  });
  if (problem !== null) return waiting(`an answer: ${problem}`);
  const spec = evaluationSpec(context, wanted, vm);
  const evaluated = `${name} to be evaluated`;
  if (evaluation === null) return waiting(evaluated, { spec, before: null });
  if (evaluation.deleting) return waiting(`${name} to be gone, as it is being deleted`);
  if (!evaluation.own) return waiting(`${name} to be gone, as it is another object’s: delete it`);
  const { uid, isCurrent, ready, results } = evaluation;
  if (!isSameEvaluation(evaluation.spec, spec))
    return waiting(evaluated, { spec, before: { uid, spec: evaluation.spec } });
  if (isCurrent && ready?.isTrue === true) return { change: null, pending: null, results };
  const says = isCurrent && ready !== null && ready.message !== '' ? `; it says: ${ready.message}` : '';
  return waiting(`${evaluated}${says}`);
}

/** Has them evaluated, and waits for that. */
export function planEvaluation(context: Context, vm: ObservedVm | null, stage: Stage): Outcome {
  const { desired, settings, nowMs } = context;
  const judged = judgePolicies(context, vm);
  if (judged === null) return success;
  const { change, pending } = judged;
  if (change !== null)
    return execute(stage, [`Have the policies of ${desired.name} evaluated`, { kind: 'evaluatePolicies', ...change }]);
  // An event tells of it, too.
  return pending === null
    ? success
    : wait('WaitingForPolicies', pending, nowMs + intervalMs(settings, nowMs - falseSinceMs(context, type)));
}

export const planPolicies = (context: VmContext): Outcome => planEvaluation(context, context.vm, 'policies');

/** What is asked, as VM Operator asks it. */
function evaluationSpec(
  { desired, observed }: Context,
  { named, labels }: WantedPolicies,
  vm: ObservedVm | null,
): EvaluationSpec {
  const guestId = guestIdOf(desired, observed, vm);
  return {
    ...(named.length > 0 && { policies: named }),
    ...imageOf(observed),
    ...((guestId !== null || Object.keys(labels).length > 0) && {
      workload: {
        ...(Object.keys(labels).length > 0 && { labels }),
        ...(guestId !== null && { guest: { guestID: guestId, guestFamily: guestFamilyOf(guestId) } }),
      },
    }),
  };
}

/** As the guest says it, else as the VM is configured, else as it will be; null: not known. */
function guestIdOf(
  { config }: Context['desired'],
  { prerequisites: { image } }: Context['observed'],
  vm: ObservedVm | null,
): string | null {
  if (vm !== null) return vm.guest.guestId ?? (vm.config?.guestId || null);
  return config.guestId ?? (image?.kind === 'found' ? image.value.hardware.guestId : null);
}

/** One that is gone is not asked about; of one that cannot be read it is not known, and what was asked stays. */
function imageOf({ prerequisites: { image }, policies }: Context['observed']): Pick<EvaluationSpec, 'image'> {
  if (image?.kind === 'found') {
    const { name, labels = {} } = image.value;
    return { image: { name, ...(Object.keys(labels).length > 0 && { labels }) } };
  }
  const before = policies?.evaluation?.spec.image;
  return image === null || image.kind === 'notFound' || before === undefined ? {} : { image: before };
}

/** The tags by which vCenter applies the policies, each once. Pure. */
export const tagsOf = (results: readonly PolicyResult[]): string[] =>
  [...new Set(results.flatMap(({ tags }) => tags))].toSorted();

/**
 * The tags that are attached and detached, and the note of it that goes along: only what drover has attached is
 * detached. Pure.
 *
 * @param extraConfig of the VM; empty: it is not made yet
 */
export function diffPolicyTags(
  judged: JudgedPolicies | null,
  extraConfig: Readonly<Record<string, string>>,
): Pick<ReconfigSpec, 'tagSpecs' | 'extraConfig'> {
  if (judged === null || judged.results === null) return {};
  const wanted = tagsOf(judged.results);
  const attached = readPolicyTags(extraConfig);
  const tagSpecs = [
    ...attached.filter((tag) => !wanted.includes(tag)).map((tag) => ({ operation: 'remove' as const, tag })),
    ...wanted.filter((tag) => !attached.includes(tag)).map((tag) => ({ operation: 'add' as const, tag })),
  ];
  return tagSpecs.length === 0
    ? {}
    : { tagSpecs, extraConfig: [{ key: extraConfigKeys.policyTags, value: wanted.join(',') }] };
}

/** Until they are evaluated; null: they are, or none are. Pure. */
export function judgeEvaluation(judged: JudgedPolicies | null): ConditionUpdate | null {
  if (judged === null || judged.pending === null) return null;
  return no(type, 'PolicyEvaluationNotReady', `Waiting for ${judged.pending}`);
}
