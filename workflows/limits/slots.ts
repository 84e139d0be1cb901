import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import {
  type AllowanceRequest,
  describeQueue,
  endpointOf,
  placeOf,
  type QueueReport,
  type SlotAnswer,
  type SlotKind,
  type SlotLimit,
  type SlotMessage,
} from '../../contracts/allowance.ts';
import type { Along } from '../../contracts/virtual-machine/activities.ts';
import { allowanceId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { slotQueue } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import type { Lifecycle, Reconciler, RunHandle, Situation } from '../lib/lifecycle.ts';
import { wait } from '../lib/plan.ts';
import { allowanceOf, applyAnswer, noMembership, report, type Membership } from './membership.ts';

/** A run's place among those that may do such work at once, or that wait for it. */
export interface SlotClaim {
  limit: SlotKind;
  /** Where it was asked for, and is released: an object that is being deleted may not show that any more. */
  of?: SlotLimit;
  membership: Membership;
}

/** What a lifecycle has whose runs acquire slots. */
export interface SlotLifecycle extends Lifecycle {
  settings: Lifecycle['settings'] & { cluster: string; slotRenewMs: number };
  memory: { slot: SlotClaim | null };
}

/** The limit of a name in the run's plans. Pure. */
type LimitOf<L extends SlotLifecycle> = (kind: SlotKind, situation: Situation<L>) => SlotLimit;
/** How the object of a run in the queue says its status. Pure; null: it has none. */
type ReportOf<L extends SlotLifecycle> = (
  situation: Situation<L>,
  status: L['status'],
  retryHandled: string | null,
) => QueueReport | null;
type Run<L extends Lifecycle> = RunHandle<L>;

const phases = { creates: 'TooManyCreates', destroys: 'Deleting', clones: 'TooManyClones' } as const;

/** Of a vCenter, by the name that the run's settings have. */
export const ofVcenter = <L extends SlotLifecycle & { settings: { vcenter: string } }>(
  kind: SlotKind,
  { settings: { vcenter } }: Situation<L>,
): SlotLimit => ({ kind: kind === 'destroys' ? kind : 'creates', vcenter });

/** The driver's hooks for slots. */
export const slotHooks = <L extends SlotLifecycle>(
  limitOf: LimitOf<L>,
  reportOf: ReportOf<L>,
): Required<Pick<Reconciler<L>, 'slots'>> => ({
  slots: {
    queued(situation, named) {
      const limit = named as SlotKind;
      return wait(phases[limit], phases[limit], describeQueue(limitOf(limit, situation), null));
    },
    async acquire(situation, named, run, queued) {
      const limit = named as SlotKind;
      const message = ask(limit, limitOf(limit, situation), run);
      const answer = await slotQueue(`Acquire a slot of the ${limit} of ${placeOf(message.limit)}`).acquireSlot({
        ...message,
        renewMs: situation.settings.slotRenewMs,
        said: queued && reportOf(situation, queued.status, queued.retryHandled),
      });
      keep(run, claimAfter(run.memory().slot, limit, answer));
      return answer.wasQueued === true;
    },
    release(situation, limit, run) {
      const claim = run.memory().slot;
      keep(run, null);
      const shared = claim?.of ?? limitOf(limit as SlotKind, situation);
      return () => leave(shared, situation.settings.cluster, claim?.membership.acknowledged ?? null);
    },
    ahead: {
      request: (situation, limit, run) => ask(limit as SlotKind, limitOf(limit as SlotKind, situation), run),
      answered(limit, answer, run) {
        keep(run, answer && claimAfter(run.memory().slot, limit as SlotKind, answer));
        return isGranted(run.memory().slot, limit as SlotKind);
      },
    },
  },
});

/** Notes it first: also where it is never answered it may have arrived, and then the run leaves the queue. */
function ask<L extends SlotLifecycle>(limit: SlotKind, shared: SlotLimit, run: Run<L>): SlotMessage {
  const before = run.memory().slot;
  const membership = before?.limit === limit ? before.membership : noMembership;
  const reported = report(membership, { want: 1, using: 0 }, Date.now());
  keep(run, { limit, of: shared, membership: reported.membership });
  return { limit: shared, request: requestOf(shared, reported.request) };
}

const keep = <L extends SlotLifecycle>(run: Run<L>, slot: SlotClaim | null): void =>
  run.update((memory) => ({ ...memory, slot }));

/** Pure. */
export const isGranted = (claim: SlotClaim | null, limit: SlotKind): boolean =>
  claim?.limit === limit && allowanceOf(claim.membership) > 0;

/** The claim after an answer, or a grant, of a limit. Pure. */
export const claimAfter = (
  claim: SlotClaim | null,
  limit: SlotKind,
  answer: Pick<SlotAnswer, 'sequence' | 'allowance'>,
): SlotClaim | null =>
  claim?.limit === limit ? { ...claim, membership: applyAnswer(claim.membership, answer) } : claim;

/** What releases the slot that a run holds, for an activity; undefined: it holds none. */
export function releaseOf<L extends SlotLifecycle>(situation: Situation<L>, limitOf: LimitOf<L>): Along['slot'] {
  const claim = situation.memory.slot;
  if (claim === null) return undefined;
  const limit = claim.of ?? limitOf(claim.limit, situation);
  return { limit, request: requestOf(limit, { want: 0, using: 0, acknowledged: claim.membership.acknowledged }) };
}

async function leave(limit: SlotLimit, cluster: string, answer: AllowanceRequest['acknowledged']): Promise<void> {
  const request = requestOf(limit, { want: 0, using: 0, acknowledged: answer ?? null });
  const allocator = getExternalWorkflowHandle(allowanceId(limit, cluster));
  // Without an allocator there is nothing to release.
  await allocator.signal(messages.allowanceRequested, request).catch(explain);
}

function requestOf(
  limit: SlotLimit,
  need: Pick<AllowanceRequest, 'want' | 'using' | 'acknowledged'>,
): AllowanceRequest {
  const { workflowId, runId } = workflowInfo();
  return { consumer: workflowId, runId, host: endpointOf(limit), deadline: null, ...need };
}
