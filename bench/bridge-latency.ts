import { annotations, evictionId } from '../contracts/ids.ts';
import type { BenchWorld } from './eviction/bench-world.ts';
import { hosts } from './eviction/bench-world.ts';
import { carries, readHistory, timeOf, timesOfActivity } from './eviction/run-history.ts';
import type { Machine } from './machine.ts';
import { describeMachine } from './machine.ts';
import { percentile } from './statistics.ts';

/** Milliseconds. */
interface Percentiles {
  p50: number;
  p99: number;
}

/** Figure 3: how long a single change needs until something is done about it. */
export interface BridgeLatency {
  machine: Machine;
  changes: number;
  /**
   * From the request that creates an Eviction to the signal in the history of its run: kube-apiserver,
   * watch, bridge, Temporal.
   */
  toSignalMs: Percentiles;
  /** From the signal to the start of the first activity: a workflow task and a dispatch. */
  toActivityMs: Percentiles;
  /** Both together. */
  wholeMs: Percentiles;
}

/** The runs end soon, so that the next change is single again. */
export const latencySettings = { eviction: { lingerMs: 0 } };

/** One change at a time: an Eviction that only observes an empty host, and the next when its run is closed. */
export async function measureBridgeLatency(world: BenchWorld, changes: number): Promise<BridgeLatency> {
  const machine = describeMachine(world.versions);
  await world.seed(0, 0, 1);
  const samples: { signalMs: number; activityMs: number }[] = [];
  for (let change = 0; change < changes; change += 1) {
    const host = hosts[change % hosts.length] ?? '';
    const atMs = await world.createEviction(host, { [annotations.mode]: 'observe' });
    const { runId } = await world.untilEnded(host, atMs, 60_000);
    const events = await readHistory(world.client, evictionId(host), runId);
    const signal = events.find((event) => carries(event, 'workflowExecutionSignaledEventAttributes'));
    const first = timesOfActivity(events, 'openEviction');
    if (signal === undefined || first === null)
      throw new Error(`the run of ${host} has no signal or no first activity`);
    samples.push({ signalMs: timeOf(signal) - atMs, activityMs: first.startedMs - timeOf(signal) });
    await world.removeEvictions();
  }
  return {
    machine,
    changes,
    toSignalMs: percentiles(samples.map(({ signalMs }) => signalMs)),
    toActivityMs: percentiles(samples.map(({ activityMs }) => activityMs)),
    wholeMs: percentiles(samples.map(({ signalMs, activityMs }) => signalMs + activityMs)),
  };
}

const percentiles = (values: readonly number[]): Percentiles => ({
  p50: Math.round(percentile(values, 0.5)),
  p99: Math.round(percentile(values, 0.99)),
});
