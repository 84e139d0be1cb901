import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import {
  type AllowanceRequest,
  endpointOf,
  placeOf,
  type SlotAnswer,
  type SlotKind,
  type SlotLimit,
} from '../../contracts/allowance.ts';
import type { Along } from '../../contracts/virtual-machine/activities.ts';
import { allowanceId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { temporal } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import type { Lifecycle, Reconciler, RunHandle, Situation } from '../lib/lifecycle.ts';
import { wait } from '../lib/plan.ts';
import { allowanceOf, applyAnswer, noMembership, readGrant, report, type Membership } from './membership.ts';

/** A run's place among those that may do such work at once, or that wait for it. */
export interface SlotClaim {
  limit: SlotKind;
  membership: Membership;
}

/** What a lifecycle has whose runs acquire slots. */
export interface SlotLifecycle extends Lifecycle {
  settings: Lifecycle['settings'] & { cluster: string; slotRenewMs: number };
  memory: { slot: SlotClaim | null };
}

/** The limit of a name in the run's plans. Pure. */
type LimitOf<L extends SlotLifecycle> = (kind: SlotKind, situation: Situation<L>) => SlotLimit;
type Run<L extends Lifecycle> = RunHandle<L>;

/** Whether the request has arrived is not known: the run asks again soon. */
const unansweredMs = 15_000;

const phases = { creates: 'TooManyCreates', destroys: 'Deleting', clones: 'TooManyClones' } as const;

/** Of a vCenter, by the name that the run's settings have. */
export const ofVcenter = <L extends SlotLifecycle & { settings: { vcenter: string } }>(
  kind: SlotKind,
  { settings: { vcenter } }: Situation<L>,
): SlotLimit => ({ kind: kind === 'destroys' ? kind : 'creates', vcenter });

/** The driver's hooks for slots. */
export const slotHooks = <L extends SlotLifecycle>(
  limitOf: LimitOf<L>,
): Required<Pick<Reconciler<L>, 'slots' | 'listen'>> => ({
  slots: {
    async acquire(situation, named, run) {
      const limit = named as SlotKind;
      const shared = limitOf(limit, situation);
      const { slotRenewMs } = situation.settings;
      const before = run.memory().slot;
      const membership = before?.limit === limit ? before.membership : noMembership;
      const reported = report(membership, { want: 1, using: 0 }, Date.now());
      keep(run, { limit, membership: reported.membership });
      const answer = await temporal(`Acquire a slot of the ${limit} of ${placeOf(shared)}`)
        .acquireSlot({ limit: shared, request: requestOf(shared, reported.request) })
        // Neither the use nor whether the request has arrived is known then: the claim is kept.
        .catch((error: unknown) => (explain(error), null));
      const claim = claimAfter(run.memory().slot, limit, answer);
      keep(run, claim);
      if (isGranted(claim, limit)) return null;
      const untilMs = Date.now() + (answer === null ? Math.min(slotRenewMs, unansweredMs) : slotRenewMs);
      return wait(phases[limit], phases[limit], describeQueue(shared, answer), untilMs);
    },
    async release(situation, limit, run) {
      const claim = run.memory().slot;
      keep(run, null);
      const shared = limitOf(limit as SlotKind, situation);
      await leave(shared, situation.settings.cluster, claim?.membership.acknowledged ?? null);
    },
  },
  /** A grant that the run does not wait for any more is released. */
  listen(run) {
    setHandler(messages.allowanceGranted, (value) => {
      const granted = readGrant(value);
      const limit = granted?.kind;
      const situation = run.situation();
      if (granted === null || limit === undefined) return;
      const claim = claimAfter(run.memory().slot, limit, granted);
      keep(run, claim);
      if (claim?.limit === limit) void (isGranted(claim, limit) && run.grantSlot(limit));
      else if (granted.allowance > 0 && situation !== null)
        void leave(limitOf(limit, situation), situation.settings.cluster, granted);
    });
  },
});

const keep = <L extends SlotLifecycle>(run: Run<L>, slot: SlotClaim | null): void =>
  run.update((memory) => ({ ...memory, slot }));

/** Pure. */
export const isGranted = (claim: SlotClaim | null, limit: SlotKind): boolean =>
  claim?.limit === limit && allowanceOf(claim.membership) > 0;

/** The claim after an answer, or a grant, of a limit. Null answers nothing. Pure. */
export const claimAfter = (
  claim: SlotClaim | null,
  limit: SlotKind,
  answer: Parameters<typeof applyAnswer>[1] | null,
): SlotClaim | null =>
  claim?.limit !== limit || answer === null ? claim : { limit, membership: applyAnswer(claim.membership, answer) };

/** What a run in the queue waits for. Pure. */
export function describeQueue(shared: SlotLimit, answer: Pick<SlotAnswer, 'limit' | 'inUse'> | null): string {
  const [limit, place] = [shared.kind, placeOf(shared)];
  if (answer === null || answer.limit === null) return `a slot of the ${limit} of ${place}`;
  return answer.inUse < answer.limit
    ? `a slot: the ${limit} of ${place} that are in progress are being counted`
    : `a slot: ${answer.inUse} of ${answer.limit} ${limit} of ${place} are in progress`;
}

/** What releases the slot that a run holds, for an activity; undefined: it holds none. */
export function releaseOf<L extends SlotLifecycle>(situation: Situation<L>, limitOf: LimitOf<L>): Along['slot'] {
  const claim = situation.memory.slot;
  if (claim === null) return undefined;
  const limit = limitOf(claim.limit, situation);
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
