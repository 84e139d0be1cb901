import type { ClaimFacts } from '../../../contracts/data-volume/data-volume.ts';
import { type Claim, type CoreEvent, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import type { VolumeTools } from './dependencies.ts';
import { capacityBytesOf, claimFacts, requestBytesOf, timeMs } from './volume-facts.ts';

const lastMs = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: CoreEvent): number =>
  Math.max(
    ...[series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp, metadata.creationTimestamp].map(
      (time) => timeMs(time) ?? 0,
    ),
  );

/** Of external-resizer, since Kubernetes 1.31. */
const resizeErrors = ['ControllerResizeError', 'NodeResizeError'];

/** The reason of the Event that says why a claim is not as it shall be; null: it is, or no Event would say. */
function awaited(claim: Claim): 'ProvisioningFailed' | 'VolumeResizeFailed' | null {
  const capacity = capacityBytesOf(claim);
  if (capacity === null) return claim.status?.phase === 'Lost' ? null : 'ProvisioningFailed';
  return capacity < requestBytesOf(claim) ? 'VolumeResizeFailed' : null;
}

/** A claim is most often bound before its controllers could complain. */
const youngMs = 2_000;

/** Why a claim is not bound, or not as large as it shall be: what its controllers said last. Null: they say nothing. */
export async function readClaimProblem({ client, clock, scope }: VolumeTools, claim: Claim): Promise<string | null> {
  const reason = awaited(claim);
  if (reason === null) return null;
  const ageMs = clock.now() - (timeMs(claim.metadata.creationTimestamp) ?? NaN);
  if (reason === 'ProvisioningFailed' && ageMs >= 0 && ageMs < youngMs) return null;
  const condition = claim.status?.conditions?.find(
    ({ type, status }) => resizeErrors.includes(type) && status === 'True',
  );
  if (condition !== undefined) return condition.message || condition.type;
  const { namespace, uid } = claim.metadata;
  const fieldSelector = `involvedObject.uid=${uid},type=Warning`;
  const events = await client.listValid(storageResources.Event, { namespace, fieldSelector }, scope.signal);
  const last = events
    .filter((event) => event.reason === reason)
    .toSorted((a, b) => lastMs(a) - lastMs(b))
    .at(-1);
  return last === undefined ? null : last.message || reason;
}

/** With what its controllers say. */
export const describeClaim = async (tools: VolumeTools, claim: Claim, volumeUid: string): Promise<ClaimFacts> =>
  claimFacts(claim, volumeUid, await readClaimProblem(tools, claim));
