import type { SweepResult } from '../../../contracts/machine-safety/sweep.ts';
import { notManagedAnnotation } from '../../../contracts/machine-safety/unmanaged-nodes.ts';
import { orphanSweepId } from '../../../contracts/ids.ts';
import { machineFixture } from '../../../lab/machines.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import type { Mutate } from '../mutations/mutation.ts';
import { inSweepWorld, periodMs, type SweepWorld } from './sweep-world.ts';

/** The Nodes of the target cluster, which each sweep looks at. */

const sweepId = orphanSweepId(machineFixture.namespace);
const longMs = 30 * periodMs;
const { signal: never } = new AbortController();

const makeNode = ({ deployment }: SweepWorld, name: string): Promise<unknown> =>
  deployment.target.admin.request(
    { method: 'POST', path: '/api/v1/nodes', body: { apiVersion: 'v1', kind: 'Node', metadata: { name } } },
    never,
  );

const sweepsOf = ({ deployment }: SweepWorld) =>
  deployment.simulation.runs().filter(({ workflowId, status }) => workflowId === sweepId && status === 'COMPLETED');

const isMarked = ({ deployment }: SweepWorld, name: string): boolean =>
  Object.hasOwn(deployment.target.object('nodes', { name })?.metadata.annotations ?? {}, notManagedAnnotation);

test(
  'a Node that no Machine has is marked once it is old, by one activity of each sweep',
  () =>
    inSweepWorld({ hasTarget: true }, async (world) => {
      await world.makeVm('worker-1', { machine: { node: 'managed' } });
      await makeNode(world, 'managed');
      await makeNode(world, 'stray');
      await world.pass(longMs);
      expect([isMarked(world, 'managed'), isMarked(world, 'stray')]).toEqual([false, true]);
      const sweeps = sweepsOf(world);
      const marked = sweeps.flatMap(({ result }) => (result as SweepResult).nodes?.marked ?? []);
      expect(marked).toEqual(['stray']);
      for (const { activities } of sweeps)
        expect(activities.filter((name) => name === 'annotateNodes').length).toBeLessThanOrEqual(1);
      expect(world.deployment.audit).toMatchObject([{ action: 'markUnmanagedNode', object: 'node/stray' }]);
    }),
  1_800_000,
);

const refusal: Mutate = (activity) =>
  activity === 'annotateNodes'
    ? () => Promise.reject(droverFailure('KubernetesForbidden', 'may not list nodes'))
    : null;

test(
  'a target cluster that refuses is said, and the sweep goes on',
  () =>
    inSweepWorld({ hasTarget: true, mutate: refusal }, async (world) => {
      await world.makeVm('worker-1');
      await world.makeVm('orphan', { machine: null });
      await world.pass(10 * periodMs);
      expect(await world.vms()).toEqual(['worker-1']);
      const last = sweepsOf(world).at(-1)?.result as SweepResult;
      expect(last).toMatchObject({ outcome: 'reconciled', nodes: { marked: [] } });
      expect(last.nodes?.failure).toContain('may not list nodes');
      expect(last.message).toContain('Nodes were not marked, or not all');
    }),
  1_800_000,
);

test(
  'without a target cluster no sweep asks',
  () =>
    inSweepWorld({}, async (world) => {
      await world.makeVm('worker-1');
      await world.pass(5 * periodMs);
      const sweeps = sweepsOf(world);
      expect(sweeps.length).toBeGreaterThan(1);
      expect(sweeps.flatMap(({ activities }) => activities)).not.toContain('annotateNodes');
    }),
  1_800_000,
);
