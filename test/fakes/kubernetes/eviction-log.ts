import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { evictionsIn, type EvictionLog } from '../../flows/eviction-log.ts';
import { objectPaths } from '../../flows/object-log.ts';
import type { DroverObject, WatchEvent } from '../../invariants/snapshot.ts';
import type { FakeKubernetes } from './fake-kubernetes.ts';

/** What objects of drover's kinds went through in a simulation, as an `ObjectLog` of a lab has it. */
export const watchEventsOf = ({ changes }: Pick<FakeKubernetes, 'changes'>): WatchEvent[] =>
  changes.flatMap(({ atMs, type, object }) =>
    Object.hasOwn(objectPaths, object.kind) ? [{ atMs, type, object: object as unknown as DroverObject }] : [],
  );

/** Everything that the Evictions of a simulation went through, as {@link EvictionLog} of a lab has it. */
export const evictionLogOf = (kubernetes: Pick<FakeKubernetes, 'changes' | 'object'>): EvictionLog => ({
  ...evictionsIn({
    get events() {
      return watchEventsOf(kubernetes);
    },
  }),
  latest: (name) => kubernetes.object('evictions', { name }) as Eviction | null,
});
