import type { DiskConsent } from '../../contracts/node-failure/fencing.ts';
import type { AbandonDisks } from '../../contracts/messages.ts';
import type { FencingState } from './fencing-state.ts';
import { hasLocalDisk, whyLeft } from './pick-evacuations.ts';

export type DiskConsentDecision = { taken: DiskConsent[]; message: string } | { taken: null; message: string };

/**
 * Whether a person's word that local disks are given up counts: for this incident, and for servers that stay on the host for their disks
 * alone, each of them named. All of them or none. Pure; each branch is a row of the table test. Source: design section 2, rule 16.
 */
export function judgeDiskConsent(
  { incident, instances, person }: AbandonDisks,
  { incident: current, servers, consentedDisks, settings }: FencingState,
  nowMs: number,
): DiskConsentDecision {
  const refuse = (message: string): DiskConsentDecision => ({ taken: null, message });
  if (incident !== current.id) return refuse(`It is for the incident ${incident}; the one at hand is ${current.id}.`);
  if (servers === null)
    return refuse(`The servers of ${current.host} have not been looked up: first it must be known that it is off.`);
  const taken: DiskConsent[] = [];
  for (const instance of instances) {
    const [server, ...others] = servers.filter(({ id, name }) => id === instance || name === instance);
    if (server === undefined) return refuse(`${instance} is no server of ${current.host}.`);
    if (others.length > 0)
      return refuse(
        `${instance} may be any of ${[server, ...others].map(({ id }) => id).join(', ')}: name it by its id.`,
      );
    if (!hasLocalDisk(server)) return refuse(`${server.name} has no disks on the host.`);
    if (consentedDisks.some(({ id }) => id === server.id))
      return refuse(`The disks of ${server.name} have been given up already.`);
    const why = whyLeft(server, settings.exclusions, [{ id: server.id }]);
    if (why !== null) return refuse(`${server.name} would stay all the same: ${why}.`);
    taken.push({ id: server.id, person, atMs: nowMs });
  }
  const names = servers.filter(({ id }) => taken.some((consent) => consent.id === id)).map(({ name }) => name);
  return {
    taken,
    message: `Taken: ${person} gives up the local disks of ${names.join(', ')}. They come up elsewhere with these disks made anew, while ${current.host} is known to be off.`,
  };
}
