import type { Stage, StageFailure, VirtualMachineMemory } from '../../../contracts/virtual-machine/observation.ts';
import { retryAfterMs } from '../../lib/retry.ts';
import { type Context, failureOf, type Outcome, retry, type StagedAction } from './context.ts';

/**
 * A change of a VM that was made well is decided again only where it had no effect, or another one takes it back. From
 * the second time on that is a failure: drover would go on for ever. Pure functions.
 */

type Change = Extract<StagedAction, { kind: 'reconfigure' | 'adopt' }>;

export const isChange = (step: StagedAction): step is Change => step.kind === 'reconfigure' || step.kind === 'adopt';

/** So long the same change counts as made again in a row; the pauses between are shorter. */
const inRowMs = 30 * 60_000;

/** What was changed last, after one more. */
export function countChange(
  before: VirtualMachineMemory['changes'],
  step: Change,
  nowMs: number,
): VirtualMachineMemory['changes'] {
  const { stage } = step;
  const change = digestChange(step);
  const last = before.find((one) => one.stage === stage);
  const isAgain = last?.change === change && nowMs < last.atMs + inRowMs;
  return [...before.filter((one) => one !== last), { stage, change, times: isAgain ? last.times + 1 : 1, atMs: nowMs }];
}

/** A change that would be made again without end. Undefined: there is none, or it is time to try it again. */
export function judgeProgress(
  { memory, nowMs }: { memory: Pick<VirtualMachineMemory, 'changes'>; nowMs: number },
  outcome: Outcome,
): StageFailure | undefined {
  const step = outcome.kind === 'execute' ? outcome.steps.find(isChange) : undefined;
  if (step === undefined) return undefined;
  const { stage, moId } = step;
  const made = memory.changes.find((one) => one.stage === stage && one.change === digestChange(step));
  if (made === undefined || made.times < 2) return undefined;
  const attempts = made.times - 1;
  const retryAtMs = made.atMs + retryAfterMs(attempts);
  if (nowMs >= retryAtMs) return undefined;
  const what = step.kind === 'reconfigure' ? Object.keys(step.spec).join(', ') : 'its owner';
  return {
    stage,
    reason: 'NoProgress',
    message: `ReconfigVM_Task of ${moId} (${what}) ended well ${made.times} times, and the VM is as it was before. Look in vCenter who takes it back, or what it does not take, and correct the spec; drover tries again ever more seldom`,
    requeue: true,
    attempts,
    retryAtMs,
  };
}

/** A stage that has failed is not tried again before its time; everything else is decided. */
export function unlessFailed<Given extends Context>(
  stage: Stage,
  decide: (context: Given) => Outcome,
): (context: Given) => Outcome {
  return (context) => {
    const outcome = decide(context);
    const failure = failureOf(context, stage) ?? judgeProgress(context, outcome);
    return failure !== undefined && outcome.kind === 'execute' ? retry(failure) : outcome;
  };
}

/** Whatever version of the VM it is decided on. */
const digestChange = (step: Change): string =>
  digestOf(JSON.stringify([step.kind, step.moId, step.kind === 'reconfigure' ? step.spec : null]));

/** FNV-1a, 32 bits, and the length. Of a change, one that is the same by chance costs a pause of 10 s. */
export function digestOf(text: string): string {
  let hash = 0x81_1c_9d_c5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93);
  return `${text.length}:${(hash >>> 0).toString(16)}`;
}
