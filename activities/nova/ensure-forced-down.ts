import type { ForcedDownProof, ForcedDownRequest } from '../../contracts/node-failure/fencing.ts';
import type { HostObservation } from '../../contracts/eviction/instance.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { changeService, readService } from './change-service.ts';
import type { Tools } from './dependencies.ts';
import { serviceState } from './observe-host.ts';
import type { ComputeServiceRecord } from './types.ts';

/** What each direction takes as proof. */
const accepted: Record<'down' | 'up', readonly ForcedDownProof['by'][]> = {
  down: ['power-off', 'person'],
  up: ['restart', 'person'],
};

/**
 * Makes Nova take a host for dead, so that its servers can be evacuated, or takes that back. Only with proof: servers that are evacuated
 * from a host that still runs run twice. Safe to repeat and to run twice at once.
 *
 * @throws HostNotFenced a proof that proves nothing of the kind; HostUp a person says that it is off, and Nova hears from it
 * @throws EvacuationsUnsettled nova-compute there was not started since, so that it still has the guests that were evacuated
 * @throws HostNotFound, ServiceConflict, Stopped
 * @see Compute API, "Update Compute Service", microversion 2.53
 */
export async function ensureForcedDown(tools: Tools, request: ForcedDownRequest): Promise<HostObservation['service']> {
  const before = await readService(tools, request.host);
  judgeProof(before, request);
  if (before.forcedDown === request.forcedDown) return serviceState(before);
  const { incident, by, witness, at } = request.proof;
  const entry = { action: 'ensureForcedDown', cause: `incident ${incident}: ${by}, ${witness} at ${at}` };
  return serviceState(await changeService(tools, before, { forcedDown: request.forcedDown }, entry));
}

/** Pure. @throws HostNotFenced, HostUp */
export function judgeProof(
  { state, host }: Pick<ComputeServiceRecord, 'state' | 'host'>,
  { forcedDown, proof }: Pick<ForcedDownRequest, 'forcedDown' | 'proof'>,
): void {
  const said =
    [proof.incident, proof.witness, proof.at].every((part) => part.trim() !== '') &&
    !Number.isNaN(Date.parse(proof.at));
  if (!said || !accepted[forcedDown ? 'down' : 'up'].includes(proof.by)) {
    throw droverFailure(
      'HostNotFenced',
      `The proof (${proof.by} by ${proof.witness || 'nobody'} at ${proof.at || 'no time'}) does not allow ${host} to be forced ${forcedDown ? 'down' : 'up'}`,
    );
  }
  if (forcedDown && proof.by === 'person' && state === 'up')
    throw droverFailure(
      'HostUp',
      `${proof.witness} confirmed that ${host} is off, but Nova hears from nova-compute there`,
    );
}
