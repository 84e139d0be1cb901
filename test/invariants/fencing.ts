import type { Check } from './objects.ts';
import { concerns } from './objects.ts';
import { offs } from './power.ts';
import { hasEnded } from './servers.ts';
import type { AuditLine, MigrationFact, Snapshot } from './snapshot.ts';

/** What drover did about a failed host. */
interface Fencing {
  did: 'forcedDown' | 'forcedUp' | 'evacuated';
  host: string;
  object: string;
  cause: string;
}

const fencingsOf = (audit: readonly AuditLine[]): Fencing[] =>
  audit.flatMap(({ action, object, cause, before, after }): Fencing[] => {
    if (action === 'startEvacuation')
      return [{ did: 'evacuated', host: (before as { host?: string } | null)?.host ?? '', object, cause }];
    if (action !== 'ensureForcedDown') return [];
    const { asked, ...known } = (after ?? {}) as { forcedDown?: boolean; asked?: { forcedDown?: boolean } };
    const isDown = (asked ?? known).forcedDown === true;
    // Without an answer it may be forced up, or not: what was proven stands until it is known.
    if (asked !== undefined && !isDown) return [];
    return [{ did: isDown ? 'forcedDown' : 'forcedUp', host: object.replace('compute-service/', ''), object, cause }];
  });

/** 12: a server is started elsewhere only while its host is forced down on evidence. */
export const evacuatedOnEvidence: Check = ({ audit }) => {
  const evidence = new Map<string, boolean>();
  return fencingsOf(audit).flatMap(({ did, host, object, cause }) => {
    if (did !== 'evacuated') {
      evidence.set(host, did === 'forcedDown' && /^incident \S+: (?:power-off|person), /u.test(cause));
      return [];
    }
    if (evidence.get(host) === true) return [];
    return [`${object} was evacuated off ${host} (${cause}), which drover had not forced down on evidence`];
  });
};

/**
 * 32: no guest runs twice: before a server is started elsewhere by an evacuation, the machine that it ran on was
 * without power, after the server had come to it. By the machines' own record, whatever drover has read or written.
 */
export const evacuatedWithoutPower: Check = (world) => {
  const first = new Map<number, MigrationFact>();
  for (const event of world.migrationEvents)
    if (event.type === 'evacuation' && !first.has(event.id)) first.set(event.id, event);
  return [...first.values()].flatMap(({ id, instanceId, sourceHost, atMs }) => {
    const changes = world.power[sourceHost];
    if (changes === undefined || !concerns(world, sourceHost)) return [];
    const arrivedMs = arrivalMs(world, instanceId, sourceHost, atMs);
    if (offs(changes).some(({ fromMs, untilMs }) => fromMs <= atMs && untilMs > arrivedMs)) return [];
    const seen = changes.map(({ power, atMs: changedMs }) => `${power} ${atMs - changedMs} ms before`).join(', ');
    return [
      `evacuation ${id} of server ${instanceId} began while its machine ${sourceHost} ran, which has not been without power since the server came to it (${seen || 'always On'})`,
    ];
  });
};

/** When the server came to the host last, before that time. */
const arrivalMs = (
  { migrationEvents }: Pick<Snapshot, 'migrationEvents'>,
  id: string,
  host: string,
  beforeMs: number,
): number =>
  migrationEvents.findLast(
    (event) => event.instanceId === id && event.targetHost === host && hasEnded(event) && event.atMs < beforeMs,
  )?.atMs ?? -Infinity;
