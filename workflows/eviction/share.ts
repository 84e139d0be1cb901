import { workflowInfo } from '@temporalio/workflow';
import type { AllowanceGranted } from '../../contracts/allowance.ts';
import { temporal } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import { retryAfterMs } from '../lib/retry.ts';
import type { Need } from '../limits/membership.ts';
import { allowanceOf, applyAnswer, duringReport, report, reportDueMs, afterLostReport } from '../limits/membership.ts';
import { needOf } from './need.ts';
import { failed } from './problem.ts';
import type { EvictionRun } from './run.ts';

/** Takes in what the region grants. */
export function takeGrant(run: EvictionRun, granted: AllowanceGranted): void {
  run.membership = applyAnswer(run.membership, granted);
  run.state.allowance = {
    allowance: allowanceOf(run.membership),
    limit: granted.limit,
    consumers: granted.consumers,
    sequence: granted.sequence,
  };
}

/** Keeps the run that shares out the region's migrations informed, beside the actions. */
export function createReporter(run: EvictionRun): {
  tellWhenDue(): void;
  nextMs(): number | null;
  leave(): Promise<void>;
} {
  let current: Promise<void> | null = null;
  const dueMs = (): number | null => {
    const atMs = reportDueMs(run.membership, needOf(run.state), run.state.settings.allowanceRenewMs);
    return atMs === null ? null : Math.max(atMs, run.unheard?.retryAtMs ?? 0);
  };
  const tell = async (need: Need): Promise<void> => {
    const { settings, desired, host } = run.state;
    const { workflowId, runId } = workflowInfo();
    const { membership: before } = run;
    const { membership, request } = report(before, need, Date.now());
    run.membership = duringReport(before, membership);
    // Nothing more is begun with what is being given back.
    if (membership.reported === null) run.state.allowance = null;
    const summary =
      need.want === 0
        ? 'Give back the share of the region’s migrations'
        : `Ask for ${need.want} of the region’s migrations`;
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
      if (membership.reported === null) run.membership = membership;
    } catch (error) {
      run.membership = afterLostReport(before, run.membership);
      throw error;
    }
  };
  return {
    tellWhenDue() {
      const atMs = dueMs();
      if (current !== null || atMs === null || Date.now() < atMs) return;
      current = tell(needOf(run.state))
        .then(
          () => {
            run.unheard = null;
          },
          (error: unknown) => {
            const failures = (run.unheard?.failures ?? 0) + 1;
            run.unheard = { failures, retryAtMs: Date.now() + retryAfterMs(failures) };
            failed(run, explain(error), 'report');
          },
        )
        .finally(() => {
          current = null;
          run.wake();
        });
    },
    nextMs: () => (current === null ? dueMs() : null),
    async leave() {
      await current;
      // A holder that is closed is noticed within half a minute anyway, so a failure here is not worth holding the run.
      if (run.membership.reported !== null)
        await tell({ want: 0, using: 0 }).catch((error: unknown) => void explain(error));
    },
  };
}
