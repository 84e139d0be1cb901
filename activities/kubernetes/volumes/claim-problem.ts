import type { ClaimFacts } from '../../../contracts/data-volume/data-volume.ts';
import { type Claim, type CoreEvent, storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { type SharedByKey, shareByKey } from '../../lib/share.ts';
import type { DataVolumeDependencies, VolumeTools } from './dependencies.ts';
import { capacityBytesOf, claimFacts, requestBytesOf, timeMs } from './volume-facts.ts';

const lastMs = ({ series, lastTimestamp, eventTime, firstTimestamp, metadata }: CoreEvent): number =>
  Math.max(
    ...[series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp, metadata.creationTimestamp].map(
      (time) => timeMs(time) ?? 0,
    ),
  );

/** What was said last. */
export const lastOf = (events: readonly CoreEvent[]): CoreEvent | undefined =>
  events.toSorted((a, b) => lastMs(a) - lastMs(b)).at(-1);

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

/** A controller repeats what it says of a claim, and no Event is as urgent as this is short. */
const trustedMs = 1_000;

/**
 * The Warnings on claims of a namespace. kube-apiserver reads all Events of a namespace from etcd for each question,
 * however few it answers: those who wait for claims of one namespace share an answer.
 */
export const shareClaimWarnings = ({
  client,
  clock,
}: Pick<DataVolumeDependencies, 'client' | 'clock'>): SharedByKey<readonly CoreEvent[]> =>
  shareByKey(clock, (namespace, signal) => {
    const fieldSelector = 'involvedObject.kind=PersistentVolumeClaim,type=Warning';
    return client.listValid(storageResources.Event, { namespace, fieldSelector }, signal);
  });

/** Why a claim is not bound, or not as large as it shall be: what its controllers said last. Null: they say nothing. */
export async function readClaimProblem(
  { claimWarnings, clock, scope }: VolumeTools,
  claim: Claim,
): Promise<string | null> {
  const reason = awaited(claim);
  if (reason === null) return null;
  const ageMs = clock.now() - (timeMs(claim.metadata.creationTimestamp) ?? NaN);
  if (reason === 'ProvisioningFailed' && ageMs >= 0 && ageMs < youngMs) return null;
  const condition = claim.status?.conditions?.find(
    ({ type, status }) => resizeErrors.includes(type) && status === 'True',
  );
  if (condition !== undefined) return condition.message || condition.type;
  const { namespace, uid } = claim.metadata;
  const events = await claimWarnings.read(namespace ?? '', trustedMs, scope.signal);
  const last = lastOf(events.filter((event) => event.involvedObject?.uid === uid && event.reason === reason));
  return last === undefined ? null : last.message || reason;
}

/** With what its controllers say. */
export const describeClaim = async (tools: VolumeTools, claim: Claim, volumeUid: string): Promise<ClaimFacts> =>
  claimFacts(claim, volumeUid, await readClaimProblem(tools, claim));
