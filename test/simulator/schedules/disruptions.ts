import { liftStops, setStop } from '../../../runtime/stop.ts';
import type { CallFate } from '../network.ts';
import type { System } from './call-fates.ts';
import type { Action, Actions, Cast } from './cast.ts';
import { choose, patience, run } from './cast.ts';
import type { EventKind, ScheduledEvent } from './schedule.ts';

/** What breaks, for a while: systems, the ways to them, processes, clocks. */

const systems: readonly System[] = [
  'nova',
  'placement',
  'keystone',
  'kubernetes',
  'vsphere',
  'temporal',
  'redfish',
  'libvirt',
  'ovs',
  'ceph',
];

const disrupt =
  (fate: CallFate, share: number, mostMs: number): Action =>
  ({ disruptions, deployment: { simulation } }, event) => {
    const untilMs = simulation.clock.nowMs + Math.min(event.forMs, mostMs);
    disruptions.push({ system: choose(systems, event), fate, share, untilMs });
  };

/** An hour at most, forth or back; until an operator sets it right. */
const skewOf = ({ which, forMs }: ScheduledEvent): number => (which % 2 === 0 ? 1 : -1) * forMs * 40;

const systemNamespace = 'drover-system';
const runsThatShare = ['limits/migrations/RegionOne', 'limits/creates/lab', 'vcenter/lab'];

type OfDisruptions = Extract<
  EventKind,
  | `kill${string}`
  | `${string}Calls`
  | `${string}Clock`
  | 'outage'
  | 'endWatches'
  | 'compact'
  | 'loseAnswers'
  | 'loseRequests'
  | 'suspend'
  | 'stopAll'
  | 'terminateShared'
>;

export const disruptionActions: Actions<OfDisruptions> = {
  killWorker: ({ deployment }, { forMs }) => deployment.simulation.killWorker(forMs),
  killBridge({ deployment: { bridge, simulation } }, { forMs }) {
    bridge?.kill();
    simulation.clock.after(forMs, () => {
      if (bridge?.process === null) bridge.start();
    });
  },
  outage({ deployment: { simulation } }, event) {
    const system = choose(systems, event);
    simulation.network.setAway(system, true);
    simulation.clock.after(event.forMs, () => simulation.network.setAway(system, false));
  },
  endWatches: ({ deployment }) => deployment.kubernetes.endWatches('broken'),
  compact({ deployment }) {
    deployment.kubernetes.compact();
    deployment.kubernetes.endWatches('ended');
  },
  loseAnswers: disrupt('failAfter', 1, 3_000),
  loseRequests: disrupt('failBefore', 0.3, 60_000),
  slowCalls: disrupt('slow', 0.5, 60_000),
  hangCalls: disrupt('hang', 1, 5_000),
  workerClock: ({ deployment }, event) => deployment.simulation.clock.skew('worker', skewOf(event)),
  bridgeClock: ({ deployment }, event) => deployment.simulation.clock.skew('bridge', skewOf(event)),
  suspend: ({ deployment }, { forMs }) => deployment.simulation.clock.leap(forMs * 4),

  async stopAll({ deployment: { kubernetes, simulation } }, { forMs }) {
    const stop = { of: 'all', name: '', by: 'schedule', reason: 'schedule' } as const;
    const at = new Date(simulation.clock.now()).toISOString();
    await setStop(kubernetes.admin, systemNamespace, { ...stop, at }, patience);
    simulation.clock.after(forMs, () => liftStops(kubernetes.admin, systemNamespace, 'every', patience));
  },
  terminateShared: (cast: Cast, event) => run(cast, choose(runsThatShare, event)).terminate('schedule'),
};

/** All is whole again. */
export async function endDisruptions({ deployment, disruptions }: Cast): Promise<void> {
  const { simulation, kubernetes, bridge } = deployment;
  disruptions.length = 0;
  for (const system of systems) simulation.network.setAway(system, false);
  for (const process of ['worker', 'bridge']) simulation.clock.skew(process, 0);
  await liftStops(kubernetes.admin, systemNamespace, 'every', patience);
  if (bridge?.process === null) bridge.start();
}
