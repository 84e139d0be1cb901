import type { ConditionUpdate } from '../../contracts/conditions.ts';
import { findCondition } from '../../contracts/conditions.ts';
import { hostEvictingReasons, hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import type { EvictionFacts } from '../../contracts/hypervisor/hypervisor.ts';
import { modeOf } from './mode.ts';
import { remainsOn } from './service.ts';
import type { Context } from './step.ts';

/** The Eviction that this Hypervisor made; null: none. One that is not being deleted comes first. */
export function ownEviction({ desired, observed }: Pick<Context, 'desired' | 'observed'>): EvictionFacts | null {
  const own = observed.evictions.filter(({ ownerUid }) => ownerUid === desired.uid);
  return own.find(({ deleting }) => !deleting) ?? own[0] ?? null;
}

/** Evictions of the host that somebody else made and that have not ended. */
export const foreignEvictions = ({ desired, observed }: Pick<Context, 'desired' | 'observed'>): EvictionFacts[] =>
  observed.evictions.filter(
    ({ ownerUid, state }) => ownerUid !== desired.uid && (state === 'waiting' || state === 'running'),
  );

/**
 * How the emptying of a host stands:
 * - `empty`: nothing is on it, nothing can come, and it was seen so twice by an Eviction — or it is down, where nothing moves any more
 * - `stopped`: somebody cancelled or deleted the Eviction; that holds for this generation, or until somebody asks for a retry
 * - `open`: there is no Eviction, and there has to be one
 */
export type Emptying = 'absent' | 'empty' | 'running' | 'failed' | 'stopped' | 'open';

export function judgeEmptying(context: Context): Emptying {
  const { desired, observed } = context;
  const { nova, recorded } = observed;
  // Nova has no such host, so nothing of Nova's is on it.
  if (nova === null) return 'absent';
  const own = ownEviction(context);
  const isBare = nova.service.status === 'disabled' && remainsOn(nova).length === 0;
  const before = findCondition(recorded.conditions, hypervisorConditions.evicting);
  const wasEmptied =
    own?.state === 'succeeded' || (before?.status === 'False' && before.reason === hostEvictingReasons.succeeded);
  if (isBare && (wasEmptied || nova.service.state === 'down')) return 'empty';

  if (own !== null && own.deleting && own.state !== 'stopped') return 'running';
  switch (own?.state) {
    case 'waiting':
    case 'running':
    case 'observed':
      return 'running';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'stopped';
    // It had been empty, and something came.
    case 'succeeded':
      return 'open';
    case undefined:
      return wasStopped(before, desired.generation) && desired.retry === null ? 'stopped' : 'open';
  }
}

/** There was an Eviction for this very generation, and it is gone before it had ended: somebody deleted it. */
function wasStopped(before: ReturnType<typeof findCondition>, generation: number): boolean {
  if (before === undefined || (before.observedGeneration !== undefined && before.observedGeneration !== generation))
    return false;
  return (
    before.reason === hostEvictingReasons.stopped ||
    (before.status === 'True' && before.reason === hostEvictingReasons.running)
  );
}

/** Whether `status.evicted` may say true. */
export function isEmptied(context: Context): boolean {
  const emptying = judgeEmptying(context);
  return emptying === 'empty' || emptying === 'absent';
}

/**
 * `Evicting` and `evicted` of a Hypervisor; null: no maintenance, so neither is there. An Eviction that failed is neither True nor False:
 * who waits for False would take the host for empty (hypervisor.md C.1, H10). Source: hypervisor.md B.5.
 */
export function judgeEvicting(context: Context): { condition: ConditionUpdate; evicted: boolean } | null {
  const { desired, observed } = context;
  if (modeOf(desired, observed.node) === '' || observed.nova === null) return null;
  const of = (status: ConditionUpdate['status'], reason: keyof typeof hostEvictingReasons, message: string) => ({
    condition: { type: hypervisorConditions.evicting, status, reason: hostEvictingReasons[reason], message },
    evicted: reason === 'succeeded',
  });
  const own = ownEviction(context);
  const named = own === null ? '' : `Eviction ${own.name}: ${own.message}`;
  switch (judgeEmptying(context)) {
    case 'absent':
    case 'empty':
      return of('False', 'succeeded', 'Evicted');
    case 'failed':
      return of(
        'Unknown',
        'failed',
        `${named.replace(/\.$/u, '')}. Remove what stands in the way, then \`drover retry\` the Eviction`,
      );
    case 'stopped':
      return of(
        'Unknown',
        'stopped',
        `${named === '' ? 'The Eviction was deleted' : named}. \`drover retry\` starts it again`,
      );
    case 'running':
      return of('True', 'running', 'Evicting');
    case 'open':
      // Before the Eviction is there nothing is said, so that one that is missing later is known to have been deleted.
      return null;
  }
}
