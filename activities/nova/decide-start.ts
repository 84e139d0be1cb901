import type { Migration } from '../../contracts/eviction/instance.ts';
import { hasEnded } from './judge-migration.ts';
import type { InstanceHistory } from './observe-instance.ts';

export type MoveKind = 'live' | 'cold';

/** What to do about a request to move a server, after one look at it. */
export type StartDecision =
  /** It stands on its source, idle and in a state that Nova moves. */
  | { do: 'request' }
  /** It is on its way already. */
  | { do: 'adopt'; migration: Migration }
  /** Nova has taken a request like ours; the record appears within moments. */
  | { do: 'awaitRecord' }
  /** It is not as the caller thought. */
  | { do: 'giveBack' };

const movable: Record<MoveKind, readonly string[]> = { live: ['active', 'paused'], cold: ['active', 'stopped'] };
const recordType: Record<MoveKind, string> = { live: 'live-migration', cold: 'migration' };
/** The tasks that Nova sets on the server before there is a record. */
const firstTask: Record<MoveKind, readonly string[]> = { live: ['migrating'], cold: ['resize_prep'] };

/**
 * Decides what becomes of a start. Pure; each branch is a row of the table test. Nova refuses a second request for a server, so the one
 * in progress is what an earlier request of drover's own has led to, or does as well: a live migration off the source serves its purpose
 * whoever asked for it. A cold one has to be confirmed later, which only its owner may do (design section 2, rule 16).
 *
 * @param known   ids of the records that were there before an earlier attempt made its request; null where none was made
 */
export function decideStart(
  kind: MoveKind,
  sourceHost: string,
  { instance, migrations }: InstanceHistory,
  known: readonly number[] | null,
): StartDecision {
  if (instance === null) return { do: 'giveBack' };
  // Also when it is over by now: then its end is what the caller has to hear of, not a second attempt.
  const own = known === null ? undefined : newRecord(kind, sourceHost, migrations, known);
  if (own !== undefined) return { do: 'adopt', migration: own };
  const inProgress = migrations.find((migration) => !hasEnded(migration));
  if (inProgress !== undefined) {
    const serves = kind === 'live' && inProgress.type === recordType.live && inProgress.sourceHost === sourceHost;
    return serves ? { do: 'adopt', migration: inProgress } : { do: 'giveBack' };
  }
  if (instance.host !== sourceHost) return { do: 'giveBack' };
  if (instance.taskState !== null) {
    const begins = firstTask[kind].includes(instance.taskState) && (kind === 'live' || known !== null);
    return begins ? { do: 'awaitRecord' } : { do: 'giveBack' };
  }
  return movable[kind].includes(instance.vmState) ? { do: 'request' } : { do: 'giveBack' };
}

/** The record that a request has led to: of that kind, off that host, and not there before. It may be over already. */
export const newRecord = (
  kind: MoveKind,
  sourceHost: string,
  migrations: readonly Migration[],
  known: readonly number[],
): Migration | undefined =>
  migrations.find(
    ({ id, type, sourceHost: from }) => !known.includes(id) && type === recordType[kind] && from === sourceHost,
  );
