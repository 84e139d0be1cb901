import type { DataVolumeActivities, VolumeObservation } from '../contracts/data-volume/data-volume.ts';
import { volumeSnapshot } from '../contracts/kinds/storage-resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { KubernetesObjects } from '../runtime/kubernetes/objects.ts';
import type { Metrics } from '../runtime/telemetry/metrics.ts';

/** What a worker shows of the clones that it works for. */
export interface VolumeMeter {
  /** The same activities; DataVolumes that wait are shown. */
  metered: (activities: DataVolumeActivities) => DataVolumeActivities;
  /** The same objects; snapshots that are made are counted. */
  meteredClient: (client: KubernetesObjects) => KubernetesObjects;
}

/**
 * An observation that is this many intervals old is stale: another worker observes the DataVolume now, or none does.
 */
const staleAfterChecks = 2;
/** A page of a cluster in which all waits stays a page. */
const mostShown = 500;

interface Waiting {
  labels: { namespace: string; data_volume: string; reason: string };
  createdMs: number;
  staleMs: number;
}

export function meterVolumes(metrics: Metrics, clock: Pick<Clock, 'monotonicMs'>): VolumeMeter {
  /** Those that were observed last come last. */
  const waiting = new Map<string, Waiting>();
  const dropStale = (): void => {
    for (const [key, { staleMs }] of waiting) {
      if (clock.monotonicMs() < staleMs) return;
      waiting.delete(key);
    }
  };
  metrics.beforePage(() => {
    dropStale();
    metrics.replace(
      'dataVolumesWaiting',
      [...waiting.values()]
        .toSorted((a, b) => a.createdMs - b.createdMs)
        .slice(0, mostShown)
        .map(({ labels, createdMs }) => ({ labels, value: createdMs / 1_000 })),
    );
  });
  return {
    metered: (activities) => ({
      ...activities,
      async observeDataVolume(input) {
        const observation = await activities.observeDataVolume(input);
        const { namespace, name } = input;
        const key = `${namespace}/${name}`;
        const reason = observation.kind === 'observed' ? waitsFor(observation) : null;
        waiting.delete(key);
        // Also where no page is ever made.
        dropStale();
        if (observation.kind === 'observed' && observation.desired !== null && reason !== null)
          waiting.set(key, {
            labels: { namespace, data_volume: name, reason },
            createdMs: observation.desired.createdMs,
            staleMs: clock.monotonicMs() + staleAfterChecks * observation.settings.recheckMs,
          });
        return observation;
      },
      async completeDataVolume(request) {
        const answer = await activities.completeDataVolume(request);
        waiting.delete(`${request.namespace}/${request.name}`);
        return answer;
      },
    }),
    meteredClient: (client) => ({
      ...client,
      async create(resource, object, signal) {
        const made = await client.create(resource, object, signal);
        if (made !== null && resource.kind === volumeSnapshot.kind) metrics.count('cloneSnapshots', {});
        return made;
      },
    }),
  };
}

/** A condition reason; null: it waits for nothing, or is none of drover's. */
function waitsFor({ desired, observed: { recorded } }: VolumeObservation): string | null {
  if (desired === null || desired.deleting || desired.foreignSource !== '' || recorded.phase === 'Succeeded')
    return null;
  const ready = recorded.conditions.find(({ type }) => type === 'Ready');
  if (ready?.status !== 'False' || ['', 'TransferRunning', 'ObserveOnly'].includes(ready.reason)) return null;
  // What another client has written there becomes no label.
  return /^[A-Za-z]{1,64}$/u.test(ready.reason) ? ready.reason : 'Other';
}
