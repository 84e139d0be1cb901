import type { Check } from './objects.ts';
import type { AuditLine } from './snapshot.ts';

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
