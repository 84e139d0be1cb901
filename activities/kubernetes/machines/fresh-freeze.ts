import type { ReadFreeze } from '../../../contracts/machine-safety/api-server-safety.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { probeTarget } from './probe.ts';

export interface FreshFreezeSources {
  readFreeze: ReadFreeze;
  /** Where the Nodes are; null: nowhere. */
  target: Pick<KubernetesObjects, 'get'> | null;
  clock: Clock;
  /** Of `machines.apiServers`. */
  timeoutMs: number;
}

/**
 * Whether Machines are frozen, as it has to be known right before a deletion: for as long as `periodMs` after an API
 * server has gone away, the run that probes them has it well. That of the Nodes is probed once more; that of the
 * Machines has just answered, as they are listed before a deletion.
 */
export function createFreshFreeze({ readFreeze, target, clock, timeoutMs }: FreshFreezeSources): ReadFreeze {
  return async (namespace, signal) => {
    const freeze = await readFreeze(namespace, signal);
    if (freeze.state !== 'thawed' || target === null) return freeze;
    const answer = await probeTarget(target, { signal, clock, timeoutMs });
    if (answer.isUp) return freeze;
    return { state: 'unknown', reason: `The API server of the Nodes has gone away just now: ${answer.why}` };
  };
}
