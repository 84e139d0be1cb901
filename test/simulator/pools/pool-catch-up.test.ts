import { agentPoolAnnotations } from '../../../contracts/agent-pool/metadata.ts';
import { workflowTypes } from '../../../contracts/ids.ts';
import { agentFixture, forceIso } from '../../../lab/agents.ts';
import { mergeObject } from '../../../lab/kubernetes-objects.ts';
import { inPoolWorld, minute, namesOf } from './pool-world.ts';

/** A bridge is killed beside many VMs of agents that are as they should be, and begins anew. */

const many = 40;

test(
  `beside ${many} VsphereAgents that are reconciled no run is started, and what has changed is noticed`,
  () =>
    inPoolWorld({ settings: { maxAgents: many, maxConcurrent: many } }, async (world) => {
      const { deployment, neighbours } = world;
      await world.scale(many);
      expect(await world.until(() => Promise.resolve(neighbours.nodes().length === many), 240 * minute)).toBe(true);
      await world.pass(5 * minute);
      const started = async (change: () => Promise<unknown> = async () => undefined): Promise<string[]> => {
        deployment.bridge?.kill();
        const before = new Set(deployment.simulation.runs().map(({ runId }) => runId));
        await change();
        deployment.bridge?.start();
        await world.pass(2 * minute);
        const runs = deployment.simulation.runs().filter(({ runId }) => !before.has(runId));
        const ofAgents = runs.filter(({ type }) => type === workflowTypes.reconcileAgent);
        return ofAgents.map(({ workflowId }) => workflowId.slice(workflowId.lastIndexOf('/') + 1)).toSorted();
      };
      expect(await started()).toEqual([]);
      expect(deployment.bridge?.stats()?.unchanged).toBe(many);
      // Each VM boots it once.
      expect(await started(() => forceIso(world.api, 'again'))).toEqual([]);
      const [first = ''] = namesOf(1);
      const force = (): Promise<unknown> =>
        mergeObject(world.api, {
          apiVersion: 'agent-forge.containeroo.ch/v1alpha1',
          kind: 'VsphereAgent',
          metadata: {
            namespace: agentFixture.namespace,
            name: first,
            annotations: { [agentPoolAnnotations.forceDelete]: 'true' },
          },
        });
      expect(await started(force)).toEqual([first]);
    }),
  1_800_000,
);
