import type { DataVolumeActivities } from '../../../contracts/data-volume/data-volume.ts';
import { dataVolumeFinalizer } from '../../../contracts/data-volume/metadata.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { contextOf } from '../../lib/context.ts';
import { whileBeating } from '../../lib/wait.ts';
import { patchFinalizer } from '../lib/patch-finalizer.ts';
import { shareClaimWarnings } from './claim-problem.ts';
import { adoptClaim, ensureClaim, expandClaim, removePredecessor } from './claims.ts';
import { ensureCopyJob } from './copy-job.ts';
import type { DataVolumeDependencies, VolumeTools } from './dependencies.ts';
import { completeDataVolume, releaseSlot, removeTemporary } from './end-work.ts';
import { observeDataVolume } from './observe.ts';
import { leaveDataVolume, publishDataVolume } from './publish.ts';
import { ensureSourceSnapshot } from './source-snapshot.ts';
import { awaitFreeSource } from './source-users.ts';
import { transferClaim } from './transfer-claim.ts';

/** Activities on DataVolumes, queue `volumes`. They heartbeat, so that a worker that dies is replaced soon. */
export function createDataVolumeActivities(dependencies: DataVolumeDependencies): DataVolumeActivities {
  const claimWarnings = shareClaimWarnings(dependencies);
  const beating =
    <Request, Result>(work: (tools: VolumeTools, request: Request) => Promise<Result>) =>
    (request: Request): Promise<Result> => {
      const tools: VolumeTools = { ...contextOf(dependencies), claimWarnings };
      return whileBeating(
        tools,
        () => undefined,
        () => work(tools, request),
      );
    };
  return {
    observeDataVolume: beating(observeDataVolume),
    leaveDataVolume: beating(leaveDataVolume),
    patchDataVolumeFinalizer: beating((tools, { namespace, name, uid, present }) =>
      patchFinalizer(tools, resources.DataVolume, {
        key: { namespace, name },
        uid,
        finalizer: dataVolumeFinalizer,
        present,
        action: 'patchDataVolumeFinalizer',
        object: `datavolume/${namespace}/${name}`,
      }),
    ),
    awaitFreeSource: beating(awaitFreeSource),
    ensureSourceSnapshot: beating(ensureSourceSnapshot),
    ensureClaim: beating(async (tools, request) => {
      const made = await ensureClaim(tools, request);
      // The driver has done its part.
      return made.claim?.phase === 'Bound' ? { ...made, ...(await releaseSlot(tools, request.slot)) } : made;
    }),
    expandClaim: beating(expandClaim),
    ensureCopyJob: beating(ensureCopyJob),
    adoptClaim: beating(adoptClaim),
    removePredecessor: beating(removePredecessor),
    transferClaim: beating(transferClaim),
    completeDataVolume: beating(completeDataVolume),
    removeTemporary: beating(removeTemporary),
    publishDataVolume: beating(publishDataVolume),
  };
}
