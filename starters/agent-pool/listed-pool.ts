import { agentPoolConditions as types } from '../../contracts/agent-pool/metadata.ts';
import { type Condition, findCondition } from '../../contracts/conditions.ts';
import { type AgentPoolObject, type ListedCounts, waitsForApproval } from './agent-pool-object.ts';
import { byNeed } from '../command/list-objects.ts';

/** One line of `drover pools`, and one element of its `--json`. Times are RFC 3339; what is null is not known. */
export interface ListedPool {
  namespace: string;
  name: string;
  /**
   * A condition reason: why it is not ready, or what it is short of, else that of Ready. Null: no run has
   * said anything yet.
   */
  state: string | null;
  /** `ready`: all that is wanted is there, or under way. `unknown`: no status yet, or of an earlier spec. */
  status: 'ready' | 'waiting' | 'unknown';
  /** A user has to act: an approval is asked for, or it waits too long for what does not come by itself. */
  needsAttention: boolean;
  since: string | null;
  /** What it waits for. */
  message: string;
  counts: ListedCounts | null;
  /** VMs that would go, and wait for something. */
  held: AgentPoolObject['held'];
  /** Path of the discovery ISO in its datastore, and when it was uploaded and last checked. */
  iso: { path: string; uploadedAt: string | null; checkedAt: string | null } | null;
  deleting: boolean;
}

/** Those that need attention first, each part in the natural order of its names. */
export const listPools = (
  pools: readonly AgentPoolObject[],
  { attention }: { attention: boolean },
  nowMs: number,
): ListedPool[] =>
  pools
    .map((pool) => listPool(pool, nowMs))
    .filter(({ needsAttention: needs }) => needs || !attention)
    .sort(byNeed);

function listPool(pool: AgentPoolObject, nowMs: number): ListedPool {
  const { namespace, name, counts, held, iso, deleting } = pool;
  const standing = standingOf(pool);
  return {
    namespace,
    name,
    state: standing?.reason ?? null,
    status: statusOf(pool),
    needsAttention: needsAttention(pool, nowMs),
    since: standing?.lastTransitionTime ?? null,
    message: whatItWaitsFor(pool),
    counts,
    held,
    iso: iso === null ? null : { path: iso.path, uploadedAt: iso.uploadedAt, checkedAt: iso.checkedAt },
    deleting,
  };
}

const isFalse = (condition: Condition | undefined): condition is Condition => condition?.status === 'False';

/** The condition that matters most; undefined: no run has said anything yet. */
export function standingOf({ conditions }: Pick<AgentPoolObject, 'conditions'>): Condition | undefined {
  const ready = findCondition(conditions, types.ready);
  if (isFalse(ready)) return ready;
  const capacity = findCondition(conditions, types.capacity);
  return isFalse(capacity) ? capacity : ready;
}

export function statusOf(pool: Pick<AgentPoolObject, 'conditions' | 'generation'>): ListedPool['status'] {
  const standing = standingOf(pool);
  if (standing === undefined || standing.observedGeneration !== pool.generation) return 'unknown';
  return standing.status === 'True' ? 'ready' : 'waiting';
}

/** What a user can do something about first. */
function whatItWaitsFor(pool: AgentPoolObject): string {
  const { held } = pool;
  const approvals = held.filter(waitsForApproval).length;
  if (approvals > 0) return `${approvals} ${approvals === 1 ? 'VM waits' : 'VMs wait'} for an approval before it goes`;
  const standing = standingOf(pool);
  if (isFalse(standing)) return standing.message;
  const [first, ...others] = held;
  if (first === undefined) return '';
  return `${first.name}: ${first.message}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}

/** How long it may wait for what others may be about to bring. */
const patienceMs = 10 * 60_000;
/** VMs that are under way make room. */
const passing: readonly string[] = ['MaxConcurrent'];

export function needsAttention({ conditions, held }: AgentPoolObject, nowMs: number): boolean {
  if (held.some(waitsForApproval)) return true;
  return [types.ready, types.capacity, types.iso].some((type) => {
    const condition = findCondition(conditions, type);
    return (
      isFalse(condition) &&
      !passing.includes(condition.reason) &&
      nowMs - Date.parse(condition.lastTransitionTime) > patienceMs
    );
  });
}
