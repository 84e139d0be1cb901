import { agentPoolAnnotations } from '../../contracts/agent-pool/metadata.ts';
import { applyPool, deletePool, setIsoUrl } from '../../lab/agents.ts';
import { inPoolWorld, isoUrl, minute, type PoolWorld, type PoolWorldOptions } from '../simulator/pools/pool-world.ts';
import type { RecordedRun } from './corpus.ts';
import { takeRuns } from './take-runs.ts';

/** A pool of agents and its VMs, in a simulation. */
export interface PoolRecording {
  name: string;
  options?: PoolWorldOptions;
  readonly happen: (world: PoolWorld) => Promise<void>;
}

const areNodes = (world: PoolWorld, count: number): Promise<boolean> =>
  world.until(() => Promise.resolve(world.neighbours.nodes().length === count));
const areVms = (world: PoolWorld, count: number): Promise<boolean> =>
  world.until(async () => (await world.vms()).length === count);

export const pools: readonly PoolRecording[] = [
  {
    name: 'pool-scaled',
    async happen(world) {
      await world.scale(2);
      await areNodes(world, 2);
      await world.pass(2 * minute);
      await world.scale(1);
      await areVms(world, 1);
      await world.scale(0);
      await areVms(world, 0);
      await world.pass(minute);
      await deletePool(world.api);
      await world.pass(minute);
    },
  },
  {
    name: 'pool-without-agents',
    options: { neighbours: { isMute: ({ name }) => name === 'workers-001' } },
    async happen(world) {
      await world.scale(1);
      await areNodes(world, 1);
      await world.pass(minute);
    },
  },
  {
    name: 'pool-one-at-once',
    options: { sections: { virtualMachine: { creates: 1, destroys: 1 } } },
    async happen(world) {
      await world.scale(2);
      await areNodes(world, 2);
      await world.scale(0);
      await areVms(world, 0);
      await world.pass(minute);
    },
  },
  {
    // Agents that request their slots together.
    name: 'pool-of-three',
    options: { sections: { virtualMachine: { creates: 2, destroys: 2 } } },
    async happen(world) {
      await world.scale(3);
      await areNodes(world, 3);
      await world.scale(0);
      await areVms(world, 0);
      await world.pass(minute);
    },
  },
  {
    name: 'pool-idle',
    async happen(world) {
      await world.pass(25 * minute);
      world.deployment.isos.set(isoUrl('b', 'two'), 'the second ISO');
      await setIsoUrl(world.api, isoUrl('b', 'two'));
      await world.pass(minute);
    },
  },
  {
    name: 'pool-deleted-with-nodes',
    async happen(world) {
      await world.scale(1);
      await areNodes(world, 1);
      await deletePool(world.api);
      await world.pass(2 * minute);
      await world.scale(0);
      await areVms(world, 0);
      await world.pass(minute);
    },
  },
  {
    name: 'pool-withdrawn',
    async happen(world) {
      await world.scale(2);
      await areVms(world, 1);
      await world.scale(0);
      await areVms(world, 0);
      await world.pass(2 * minute);
    },
  },
  {
    name: 'pool-interrupted',
    async happen(world) {
      await world.scale(2);
      await areVms(world, 1);
      await world.down(minute);
      await areNodes(world, 2);
      await world.pass(minute);
    },
  },
  {
    name: 'pool-replaced',
    options: { neighbours: { recreates: true } },
    async happen(world) {
      await world.scale(1);
      await areNodes(world, 1);
      await world.pass(minute);
      const annotations = { [agentPoolAnnotations.replaceDrifted]: 'all' };
      await applyPool(world.api, { annotations, template: { memoryMiB: 2_048 } });
      // The new one stands ready, the old one goes.
      await areVms(world, 2);
      await areVms(world, 1);
      await areNodes(world, 1);
      await world.pass(minute);
    },
  },
];

export const recordPool = ({ options = {}, happen }: PoolRecording): Promise<Omit<RecordedRun, 'name'>[]> =>
  inPoolWorld(options, async (world) => {
    await happen(world);
    return takeRuns(world.deployment);
  });
