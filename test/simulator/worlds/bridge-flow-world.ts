import { setLabClock } from '../../../lab/clock.ts';
import { createLogger } from '../../../runtime/telemetry/logging.ts';
import { createFakeKubernetes } from '../../fakes/kubernetes/fake-kubernetes.ts';
import type { BridgeBase, BridgeOptions, TestBridge } from '../../flows/bridge-base.ts';
import { quickSettings, quickTimings } from '../../flows/bridge-base.ts';
import { createSimulatedBridge } from '../bridge.ts';
import { loadWorkflows } from '../bundle.ts';
import { passTime, seed } from './flow-world.ts';
import { createSimulation } from '../simulation.ts';

/**
 * Bridges without a lab, each a simulated process, over a kube-apiserver and a Temporal in memory that no worker polls.
 */
export async function openSimulatedBridgeBase(): Promise<BridgeBase<TestBridge, BridgeOptions>> {
  const simulation = createSimulation({ bundle: await loadWorkflows(), seed, serve: () => [] });
  simulation.killWorker(Infinity);
  const { clock, network, random, client } = simulation;
  const kubernetes = createFakeKubernetes({ clock, network, random });
  const log = createLogger({ level: 'error', component: 'bridge' });
  const stop = passTime({ simulation });
  return {
    client,
    admin: kubernetes.admin,
    async start({ settings, timings }) {
      const bridge = createSimulatedBridge({
        clock,
        random,
        kubernetes: kubernetes.client,
        temporal: client,
        settings: () => ({ ...quickSettings, ...settings }),
        timings: { ...quickTimings, ...timings },
        log,
      });
      bridge.start();
      let stopped: Promise<number> | null = null;
      const running = <Of>(of: Of | null): Of => {
        if (of === null) throw new Error('the bridge has stopped');
        return of;
      };
      return {
        stats: () => running(bridge.stats()),
        health: async () => running(await bridge.health()),
        stop: () => (stopped ??= bridge.stop()),
      };
    },
    temporal: {
      kill: async () => network.setAway('temporal', true),
      restart: async () => network.setAway('temporal', false),
    },
    async close() {
      await stop();
      simulation.close();
      setLabClock(null);
    },
  };
}
