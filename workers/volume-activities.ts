import { createDataVolumeActivities } from '../activities/kubernetes/volumes/activities.ts';
import { createCloneSlotActivities } from '../activities/kubernetes/volumes/observe-clones.ts';
import { sharePatches } from '../activities/kubernetes/lib/share-patches.ts';
import { shareReads } from '../activities/kubernetes/lib/share-reads.ts';
import { createStorageProfileActivities } from '../activities/kubernetes/volumes/storage-profile.ts';
import { releaseSlot, type SlotRequests } from '../activities/temporal/allowance.ts';
import { clonePolicy, clonePolicyBinding } from '../contracts/data-volume/clone-policy.ts';
import type { DataVolumeActivities } from '../contracts/data-volume/data-volume.ts';
import type { StorageProfileActivities } from '../contracts/data-volume/storage-profile-run.ts';
import type { SlotLimit } from '../contracts/allowance.ts';
import type { SlotActivities } from '../contracts/eviction/activities.ts';
import { kindTable } from '../contracts/kinds/table.ts';
import { unseenChange } from '../contracts/messages.ts';
import { volumeRules } from '../runtime/config/data-volumes-config.ts';
import { openObjects } from '../runtime/kubernetes/objects.ts';
import { neighbourResources, resources } from '../runtime/kubernetes/resources.ts';
import { storageResources } from '../runtime/kubernetes/storage-resources.ts';
import { createStopGate } from '../runtime/stop.ts';
import { signalWithStart } from '../runtime/temporal/signal-runs.ts';
import type { SharedSystems } from './systems.ts';

/** What clones that begin together ask alike. */
const ofAllClones = [
  neighbourResources.Cdi,
  neighbourResources.CdiConfig,
  resources.StorageProfile,
  storageResources.StorageClass,
  storageResources.CSIDriver,
  storageResources.VolumeSnapshotClass,
  storageResources.VolumeSnapshot,
  storageResources.Pod,
];

type CloneLimit = Extract<SlotLimit, { kind: 'clones' }>;

/**
 * The activities of volumes, and what the runs that allocate clones observe. Where a kind is switched off,
 * they answer so.
 */
export function composeVolumeActivities(
  systems: SharedSystems,
  slotRequests: SlotRequests,
): DataVolumeActivities & StorageProfileActivities & SlotActivities<CloneLimit> {
  const { config, temporal, kubernetes, audit, clock, volumeMeter } = systems;
  const { cluster, modes, dataVolumes, limits } = config;
  const objects = sharePatches(shareReads(openObjects(kubernetes), clock, ofAllClones), clock, [
    storageResources.VolumeSnapshot,
  ]);
  const client = volumeMeter.meteredClient(objects);
  const { recheckMs, lingerMs, publishMinMs, slotRenewMs } = dataVolumes;
  const of = (kind: 'DataVolume' | 'StorageProfile') => {
    const { [kind]: mode } = modes;
    return {
      client,
      audit,
      clock,
      settings: mode === 'off' ? null : { mode, recheckMs, lingerMs, publishMinMs },
      stopGate: createStopGate(kubernetes, config.kubernetes.systemNamespace, { kind, cluster, region: null }, clock),
      start: async (subject: string): Promise<void> => {
        const signal = unseenChange('started by hand');
        await signalWithStart(temporal, kindTable[kind], { subject, cluster, signal }, { clock });
      },
    };
  };
  const { start: startVolume, settings, ...ofVolumes } = of('DataVolume');
  const { start: startProfile, ...ofProfiles } = of('StorageProfile');
  return {
    ...volumeMeter.metered(
      createDataVolumeActivities({
        ...ofVolumes,
        settings: settings && { ...settings, cluster, slotRenewMs, rules: volumeRules(dataVolumes) },
        namespaces: dataVolumes.namespaces,
        filesystemOverhead: dataVolumes.filesystemOverhead,
        policyDelayMs: dataVolumes.policyDelayMs,
        clonePolicy: { policy: clonePolicy.spec, binding: clonePolicyBinding.spec },
        acquireSlot: ({ limit, request }, abort) => slotRequests.request(limit, request, abort),
        releaseSlot: (slot) => releaseSlot(temporal, { ...slot, cluster }),
        signalWithStart: ({ namespace, name }) => startVolume(`${namespace}/${name}`),
      }),
    ),
    ...createStorageProfileActivities({
      ...ofProfiles,
      cluster,
      signalWithStart: ({ name }) => startProfile(name),
    }),
    ...createCloneSlotActivities({
      client,
      limit: dataVolumes.concurrentPerDriver,
      checkMs: limits.checkMs,
      silentMs: limits.silentMs,
      clock,
    }),
  };
}
