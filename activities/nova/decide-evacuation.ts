import type { Migration } from '../../contracts/eviction/instance.ts';
import type { StartDecision } from './decide-start.ts';
import { hasEnded } from './judge-migration.ts';
import type { InstanceHistory } from './observe-instance.ts';

/** The states in which Nova evacuates a server. */
const evacuable: readonly string[] = ['active', 'stopped', 'error'];

/**
 * Decides what becomes of a request to evacuate, after one look at the server. Pure; each branch is a row of the table test. An evacuation
 * off the same host that is under way serves, whoever asked for it: Nova takes no second one.
 *
 * @param known ids of the records that were there before an earlier attempt made its request; null where none was made
 */
export function decideEvacuation(
  sourceHost: string,
  { instance, migrations }: InstanceHistory,
  known: readonly number[] | null,
): StartDecision {
  if (instance === null) return { do: 'giveBack' };
  // Also when it is over by now: then its end is what the caller has to hear of, not a second attempt.
  const own = known === null ? undefined : newEvacuation(sourceHost, migrations, known);
  if (own !== undefined) return { do: 'adopt', migration: own };
  const underWay = migrations.find((migration) => isEvacuation(sourceHost, migration) && !hasEnded(migration));
  if (underWay !== undefined) return { do: 'adopt', migration: underWay };
  if (instance.host !== sourceHost) return { do: 'giveBack' };
  // Nova writes the task before the record.
  if (instance.taskState === 'rebuilding') return { do: 'awaitRecord' };
  // Another migration that never ended died with its host; Nova's own answer says whether it stands in the way.
  return instance.taskState === null && evacuable.includes(instance.vmState) ? { do: 'request' } : { do: 'giveBack' };
}

const isEvacuation = (sourceHost: string, { type, sourceHost: from }: Migration): boolean =>
  type === 'evacuation' && from === sourceHost;

/** The record that a request has led to. It may be over already. */
export const newEvacuation = (
  sourceHost: string,
  migrations: readonly Migration[],
  known: readonly number[],
): Migration | undefined =>
  migrations.find((migration) => !known.includes(migration.id) && isEvacuation(sourceHost, migration));
