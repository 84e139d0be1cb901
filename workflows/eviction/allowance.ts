import { workflowInfo } from '@temporalio/workflow';
import type { AllowanceGranted } from '../../contracts/allowance.ts';
import { temporal } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import type { Need } from '../limits/membership.ts';
import {
  afterLease,
  afterLostReport,
  afterReport,
  allowanceOf,
  applyAnswer,
  duringReport,
  report,
  reportDueMs,
} from '../limits/membership.ts';
import { needOf } from './plan.ts';
import { type EvictionRun, reportProblem, wake } from './run.ts';

/** Applies what the region grants. */
export function applyGrant(run: EvictionRun, granted: AllowanceGranted): void {
  run.membership = applyAnswer(run.membership, granted);
  run.state.allowance = {
    allowance: allowanceOf(run.membership),
    limit: granted.limit,
    consumers: granted.consumers,
    sequence: granted.sequence,
    ...(granted.novaRuns !== undefined && { novaRuns: granted.novaRuns }),
  };
}

/**
 * No report has arrived for so long that what the region granted may be another's. Before each plan, so that none goes
 * by it.
 */
export function expireAllowance(run: EvictionRun): void {
  run.membership = afterLease(run.membership, Date.now());
  const { allowance } = run.state;
  if (allowance !== null && allowanceOf(run.membership) < allowance.allowance)
    run.state.allowance = { ...allowance, allowance: allowanceOf(run.membership) };
}

/** Reports to the run that allocates the region's migrations, beside the actions. */
export function allowanceReporter(run: EvictionRun): {
  reportWhenDue(): void;
  nextMs(): number | null;
  leave(): Promise<void>;
} {
  let current: Promise<void> | null = null;
  const dueMs = (): number | null => {
    const atMs = reportDueMs(run.membership, needOf(run.state), run.state.settings.allowanceRenewMs);
    return atMs === null ? null : Math.max(atMs, run.failedReports?.retryAtMs ?? 0);
  };
  const send = async (need: Need): Promise<void> => {
    const { settings, desired, host } = run.state;
    const { workflowId, runId } = workflowInfo();
    const { membership: before } = run;
    const sentMs = Date.now();
    const { membership, request } = report(before, need, sentMs);
    run.membership = duringReport(before, membership);
    // Nothing more is begun with what is being released.
    if (membership.reported === null) run.state.allowance = null;
    const summary =
      need.want === 0
        ? 'Release the allowance of the region’s migrations'
        : `Request ${need.want} of the region’s migrations`;
    try {
      await temporal(summary).requestAllowance({
        region: settings.region,
        request: {
          consumer: workflowId,
          runId,
          deadline: desired.deadline,
          host: host?.host ?? desired.hypervisor,
          ...request,
        },
      });
      run.membership = membership.reported === null ? membership : afterReport(run.membership, sentMs, Date.now());
    } catch (error) {
      run.membership = afterLostReport(before, run.membership);
      throw error;
    }
  };
  return {
    reportWhenDue() {
      const atMs = dueMs();
      if (current !== null || atMs === null || Date.now() < atMs) return;
      current = send(needOf(run.state))
        .then(
          () => {
            run.failedReports = null;
          },
          (error: unknown) => {
            const failures = (run.failedReports?.failures ?? 0) + 1;
            run.failedReports = { failures, retryAtMs: Date.now() + retryAfterMs(failures) };
            reportProblem(run, explain(error), 'report');
          },
        )
        .finally(() => {
          current = null;
          wake(run);
        });
    },
    nextMs: () => (current === null ? dueMs() : null),
    async leave() {
      await current;
      if (run.membership.reported === null) return;
      // What is in flight goes on counting as this run's: closed, it is let go when Nova shows none of it.
      const held = run.state.end === null ? 0 : needOf(run.state).using;
      // A holder that is closed is noticed within half a minute anyway, so a failure here is not worth holding the run.
      await send({ want: held, using: held }).catch((error: unknown) => void explain(error));
    },
  };
}
