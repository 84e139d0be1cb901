import type { Phase } from '../../../contracts/virtual-machine/observation.ts';
import type { Outcome } from '../../../contracts/virtual-machine/plan.ts';
import { planBackup } from './plan-backup.ts';
import { planConfig } from './plan-config.ts';
import { planPower } from './plan-power.ts';
import { planSchemaUpgrade } from './plan-schema-upgrade.ts';
import { planSnapshot } from './plan-snapshot.ts';
import type { VmContext } from '../step.ts';
import { failureOf, retry, success, unlessFailed } from '../step.ts';

interface UpdatePhase {
  phase: Phase;
  plan: (context: VmContext) => Outcome;
}

/** The seed's order; all reads happen before, so schema upgrade has what it needs (design section 8). */
export const updatePhases: readonly UpdatePhase[] = [
  { phase: 'schemaUpgrade', plan: unlessFailed('schemaUpgrade', planSchemaUpgrade) },
  // What is seen is published with every decision; here it only counts whether that failed.
  { phase: 'status', plan: (context) => failed(context, 'status') },
  { phase: 'backup', plan: unlessFailed('backup', planBackup) },
  { phase: 'config', plan: unlessFailed('config', planConfig) },
  { phase: 'power', plan: unlessFailed('power', planPower) },
  { phase: 'snapshot', plan: unlessFailed('snapshot', planSnapshot) },
];

function failed(context: VmContext, phase: Phase): Outcome {
  const failure = failureOf(context, phase);
  return failure === undefined ? success : retry(failure);
}

/**
 * Goes through the steps of an update. What cannot be retried stops it, but for a configuration while the VM is powered off: that it can
 * always be. What can be retried, and what is waited for, holds up nothing that comes after; an error of the last step counts before the
 * others. Source: seed 000 "VM Update Workflow".
 */
export function planUpdate(context: VmContext, order: readonly UpdatePhase[] = updatePhases): Outcome {
  const unsettled: { phase: Phase; outcome: Outcome }[] = [];
  for (const { phase, plan } of order) {
    const outcome = plan(context);
    if (outcome.kind === 'act') return outcome;
    if (outcome.kind === 'success') continue;
    const stops = outcome.kind === 'failed' && !outcome.requeue;
    if (stops && phase !== 'snapshot' && !(phase === 'config' && isPoweringOff(context)))
      return aggregate([...unsettled, { phase, outcome }]);
    unsettled.push({ phase, outcome });
  }
  const all = aggregate(unsettled);
  const last = unsettled.at(-1);
  // Told alone; what else has failed is tried again all the same.
  return all.kind === 'failed' && last?.phase === 'snapshot' && last.outcome.kind === 'failed'
    ? { ...all, reason: last.outcome.reason, message: last.outcome.message }
    : all;
}

const isPoweringOff = ({ desired, vm }: VmContext): boolean =>
  desired.powerState === 'PoweredOff' && vm.powerState === 'poweredOn';

/** All errors in one, newest first, tried again when the first of them may be; otherwise what is waited for. */
function aggregate(unsettled: readonly { phase: Phase; outcome: Outcome }[]): Outcome {
  const errors = unsettled
    .flatMap(({ phase, outcome }) => (outcome.kind === 'failed' ? [{ phase, ...outcome }] : []))
    .toReversed();
  const waits = unsettled.flatMap(({ outcome }) => (outcome.kind === 'wait' ? [outcome] : []));
  const [newest] = errors;
  if (newest !== undefined) {
    const again = errors.filter(({ requeue }) => requeue);
    // What can be retried counts more than what cannot, as long as there is some of it.
    const requeue = again.length > 0;
    const times = [...again.map(({ retryAtMs }) => retryAtMs), ...waits.map(({ untilMs }) => untilMs)].filter(
      (ms) => ms !== null,
    );
    const message = errors.map(({ phase, message: words }) => `${phase}: ${words}`).join(', ');
    return {
      kind: 'failed',
      requeue,
      reason: newest.reason,
      message,
      retryAtMs: requeue && times.length > 0 ? Math.min(...times) : null,
    };
  }
  const [first] = waits;
  if (first === undefined) return success;
  const times = waits.map(({ untilMs }) => untilMs).filter((ms) => ms !== null);
  return {
    ...first,
    for: waits.map((one) => one.for).join(', and for '),
    untilMs: times.length > 0 ? Math.min(...times) : null,
  };
}
