import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { AllowanceRequest, SlotAnswer, SlotKind } from '../../contracts/allowance.ts';
import type { Along } from '../../contracts/virtual-machine/activities.ts';
import { allowanceId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import { temporal } from '../lib/activities.ts';
import { explain } from '../lib/failures.ts';
import type { Lifecycle, Reconciler, RunHandle } from '../lib/lifecycle.ts';
import { wait } from '../lib/plan.ts';
import { allowanceOf, applyAnswer, noMembership, readGrant, report, type Membership } from '../limits/membership.ts';

/** A run's place among those that may make, or destroy, a VM of a vCenter at once, or that wait for one. */
export interface SlotClaim {
  limit: SlotKind;
  membership: Membership;
}

/** What a lifecycle has whose runs acquire slots of a vCenter. */
export interface SlotLifecycle extends Lifecycle {
  settings: Lifecycle['settings'] & { vcenter: string; cluster: string; slotRenewMs: number; pollMs: number };
  memory: { slot: SlotClaim | null };
}

type Vcenter = Pick<SlotLifecycle['settings'], 'vcenter' | 'cluster'>;
type Run<L extends Lifecycle> = RunHandle<L>;

const phases = { creates: 'TooManyCreates', destroys: 'Deleting' } as const;

/** The driver's hooks for slots of the creates and destroys of a vCenter. */
export const slotHooks = <L extends SlotLifecycle>(): Required<Pick<Reconciler<L>, 'slots' | 'listen'>> => ({
  slots: {
    async acquire({ settings }, named, run) {
      const limit = named as SlotKind;
      const { vcenter, slotRenewMs, pollMs } = settings;
      const before = run.memory().slot;
      const membership = before?.limit === limit ? before.membership : noMembership;
      const reported = report(membership, { want: 1, using: 0 }, Date.now());
      keep(run, { limit, membership: reported.membership });
      const answer = await temporal(`Acquire a slot of the ${limit} of vCenter ${vcenter}`)
        .acquireSlot({ limit: { kind: limit, vcenter }, request: requestOf(settings, reported.request) })
        // Neither the use nor whether the request has arrived is known then: the claim is kept.
        .catch((error: unknown) => (explain(error), null));
      const claim = claimAfter(run.memory().slot, limit, answer);
      keep(run, claim);
      if (isGranted(claim, limit)) return null;
      const isKnown = answer !== null && answer.limit !== null;
      const untilMs = Date.now() + (isKnown ? slotRenewMs : pollMs);
      return wait(phases[limit], phases[limit], describeQueue(limit, vcenter, answer), untilMs);
    },
    async release({ settings }, limit, run) {
      const claim = run.memory().slot;
      keep(run, null);
      await leave(limit as SlotKind, settings, claim?.membership.acknowledged ?? null);
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
      else if (granted.allowance > 0 && situation !== null) void leave(limit, situation.settings, granted);
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
export function describeQueue(
  limit: SlotKind,
  vcenter: string,
  answer: Pick<SlotAnswer, 'limit' | 'inUse'> | null,
): string {
  if (answer === null || answer.limit === null) return `a slot of the ${limit} of vCenter ${vcenter}`;
  return answer.inUse < answer.limit
    ? `a slot: the ${limit} of vCenter ${vcenter} that are in progress are being counted`
    : `a slot: ${answer.inUse} of ${answer.limit} ${limit} of vCenter ${vcenter} are in progress`;
}

/** What releases the slot that a run holds, for an activity; undefined: it holds none. */
export const releaseOf = (claim: SlotClaim | null, where: Vcenter): Along['slot'] =>
  claim === null
    ? undefined
    : {
        limit: { kind: claim.limit, vcenter: where.vcenter },
        request: requestOf(where, { want: 0, using: 0, acknowledged: claim.membership.acknowledged }),
      };

async function leave(kind: SlotKind, where: Vcenter, answer: AllowanceRequest['acknowledged']): Promise<void> {
  const request = requestOf(where, { want: 0, using: 0, acknowledged: answer ?? null });
  const allocator = getExternalWorkflowHandle(allowanceId({ kind, vcenter: where.vcenter }, where.cluster));
  // Without an allocator there is nothing to release.
  await allocator.signal(messages.allowanceRequested, request).catch(explain);
}

function requestOf(
  { vcenter }: Pick<Vcenter, 'vcenter'>,
  need: Pick<AllowanceRequest, 'want' | 'using' | 'acknowledged'>,
): AllowanceRequest {
  const { workflowId, runId } = workflowInfo();
  return { consumer: workflowId, runId, host: vcenter, deadline: null, ...need };
}
