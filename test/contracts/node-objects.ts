import type { ObjectMeta } from '../../contracts/crds/schema.ts';
import type { HypervisorObjectActivities } from '../../contracts/hypervisor/activities.ts';
import { until } from '../flows/until.ts';
import type { HypervisorScene, Made } from './hypervisor-objects-context.ts';
import { nodeRef, onScene } from './hypervisor-objects-context.ts';
import type { ObjectsTest, Reference } from './object-activities.ts';
import { interrupted } from './object-activities.ts';

const taint = 'kvm.cloud.sap/offboarding';

interface Tainted {
  spec: { taints?: { key: string }[] };
}

/** Without the one that kube-apiserver gives every new Node. */
const taintsOf = async ({ name, objects }: HypervisorScene): Promise<{ key: string }[]> =>
  (await objects.read<Tainted>(nodeRef(name))).spec.taints?.filter(
    ({ key }) => key !== 'node.kubernetes.io/not-ready',
  ) ?? [];

const guardRef = (node: string, apiVersion: string, kind: string): Reference => ({
  apiVersion,
  kind,
  metadata: { namespace: 'kube-system', name: `maint-${node}` },
});

/** What holds the drain of the Node back. */
const guardOf = async ({ name, objects }: HypervisorScene) => ({
  budget: await objects.read<{
    metadata: ObjectMeta & { ownerReferences: object[] };
    spec: { minAvailable: number; selector: { matchLabels: object } };
  }>(guardRef(name, 'policy/v1', 'PodDisruptionBudget')),
  deployment: await objects.read<{
    metadata: ObjectMeta;
    spec: { replicas: number; template: { metadata: { labels: object }; spec: { containers: object[] } } };
  }>(guardRef(name, 'apps/v1', 'Deployment')),
});

/** The activities on the Nodes of Hypervisors. */
export function describeNodeObjects(declare: ObjectsTest): void {
  const test = onScene(declare);

  describe('a Node', () => {
    test('is tainted and untainted beside the taints of others', async (scene) => {
      const { name, objects, audited, client, activities, look, makeNode } = scene;
      const theirs = { key: 'example.com/theirs', value: 'x', effect: 'NoSchedule' };
      const uid = await makeNode({}, { taints: [theirs] });
      const late = { key: 'example.com/late', effect: 'NoExecute' };
      const racing = interrupted(client(), 'patch', async () =>
        objects.merge(nodeRef(name), {
          spec: { taints: [...((await objects.read<Tainted>(nodeRef(name))).spec.taints ?? []), late] },
        }),
      );
      await activities({ client: racing }).taintNode({ node: name, uid });
      await activities().taintNode({ node: name, uid });
      const all = await taintsOf(scene);
      expect(all).toHaveLength(3);
      expect(all).toEqual(
        expect.arrayContaining([theirs, expect.objectContaining(late), { key: taint, effect: 'NoExecute' }]),
      );
      expect((await look()).node?.offboardingTaint).toBe(true);
      await activities().untaintNode({ node: name, uid });
      await activities().untaintNode({ node: name, uid });
      expect(await taintsOf(scene)).toHaveLength(2);
      expect(audited.map(({ action, object }) => [action, object])).toEqual([
        ['taintNode', `node/${name}`],
        ['untaintNode', `node/${name}`],
      ]);
    });

    test('that is another one by now keeps its agents', async (scene) => {
      const { name, activities, makeNode } = scene;
      await makeNode();
      await activities().taintNode({ node: name, uid: 'another' });
      expect(await taintsOf(scene)).toEqual([]);
    });

    test('tells which agents are left on it, once they are being driven off', async (scene) => {
      const { name, objects, activities, look, makeNode } = scene;
      const uid = await makeNode();
      // It is refused until its namespace has a service account.
      const pod = (podName: string, spec: object) =>
        until(`the pod ${podName} to be made`, 30_000, () =>
          objects.create<Made>({
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: podName, namespace: 'default' },
            spec: { nodeName: name, containers: [{ name: 'c', image: 'busybox' }], ...spec },
          }),
        );
      await pod('nova-compute', {});
      await pod('node-exporter', { tolerations: [{ operator: 'Exists' }] });
      await pod('elsewhere', { nodeName: 'another' });
      expect((await look()).agentPods).toBeNull();
      await activities().taintNode({ node: name, uid });
      expect((await look()).agentPods).toEqual(['default/nova-compute']);
      expect((await look({ agentNamespaces: ['kube-public'] })).agentPods).toEqual([]);
    });
  });

  describe('what holds the drain of a Node back', () => {
    test('is made, released and made again', async (scene) => {
      const { name, audited, activities, look, makeNode } = scene;
      const uid = await makeNode();
      const ensure: HypervisorObjectActivities['ensureDrainGuard'] = (request) =>
        activities().ensureDrainGuard(request);
      await Promise.all([
        ensure({ node: name, uid, guard: { minAvailable: 1, ready: false } }),
        ensure({ node: name, uid, guard: { minAvailable: 1, ready: false } }),
      ]);
      expect((await look()).drainGuard).toEqual({ minAvailable: 1, ready: false });
      const { budget, deployment } = await guardOf(scene);
      const label = { 'cobaltcore-maintenance-controller': `maint-${name}` };
      expect(budget.metadata.ownerReferences).toEqual([{ apiVersion: 'v1', kind: 'Node', name, uid }]);
      expect(budget.spec).toMatchObject({ minAvailable: 1, selector: { matchLabels: label } });
      expect(deployment.spec).toMatchObject({
        replicas: 1,
        template: {
          metadata: { labels: { ...label, 'node.gardener.cloud/critical-component': 'true' } },
          spec: { hostNetwork: true, containers: [{ image: 'busybox:1.37' }] },
        },
      });

      await ensure({ node: name, uid, guard: { minAvailable: 1, ready: true } });
      expect((await look()).drainGuard).toEqual({ minAvailable: 1, ready: true });
      await ensure({ node: name, uid, guard: { minAvailable: 0, ready: true } });
      expect((await look()).drainGuard).toEqual({ minAvailable: 0, ready: true });
      const before = audited.length;
      await ensure({ node: name, uid, guard: { minAvailable: 0, ready: true } });
      expect(audited).toHaveLength(before);
      expect((await look({ guardsDrain: false })).drainGuard).toBeNull();
      expect(audited.at(-1)).toMatchObject({
        action: 'ensureDrainGuard',
        object: `deployment/kube-system/maint-${name}`,
        after: { minAvailable: 0 },
      });
    });

    test('is written again when another client changes it in between', async (scene) => {
      const { name, objects, client, activities, look, makeNode } = scene;
      const uid = await makeNode();
      await activities().ensureDrainGuard({ node: name, uid, guard: { minAvailable: 1, ready: true } });
      const racing = interrupted(client(), 'create', () =>
        objects.merge(guardRef(name, 'apps/v1', 'Deployment'), { spec: { replicas: 2 } }),
      );
      await activities({ client: racing }).ensureDrainGuard({
        node: name,
        uid,
        guard: { minAvailable: 0, ready: true },
      });
      expect((await look()).drainGuard).toEqual({ minAvailable: 0, ready: true });
    });

    test('replaces what the operator before drover made, and nothing else of that name', async (scene) => {
      const { name, objects, activities, look, makeNode } = scene;
      const uid = await makeNode();
      const object = `maint-${name}`;
      const selector = { 'cobaltcore-maintenance-controller': object };
      const container = {
        name: 'theirs',
        image: 'registry.example.com/busybox',
        startupProbe: { exec: { command: ['/bin/false'] } },
      };
      const deployment = (labels: object) => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: object, namespace: 'kube-system', labels },
        spec: {
          replicas: 1,
          selector: { matchLabels: selector },
          template: { metadata: { labels: selector }, spec: { containers: [container] } },
        },
      });
      await objects.create(deployment({}));
      const guard = { minAvailable: 1, ready: true } as const;
      await expect(activities().ensureDrainGuard({ node: name, uid, guard })).rejects.toMatchObject({
        type: 'InvalidObject',
        nonRetryable: true,
        message: expect.stringContaining(`Deployment kube-system/${object}`),
      });
      await objects.merge(guardRef(name, 'apps/v1', 'Deployment'), { metadata: { labels: selector } });
      await activities().ensureDrainGuard({ node: name, uid, guard });
      expect((await look()).drainGuard).toEqual(guard);
      expect((await guardOf(scene)).deployment.spec.template.spec.containers).toEqual([
        expect.not.objectContaining({ startupProbe: expect.anything() }),
      ]);
    });

    test('is not made for a Node that is gone, and goes with its Node', async (scene) => {
      const { name, objects, activities, look, makeNode } = scene;
      const uid = await makeNode();
      await activities().ensureDrainGuard({ node: name, uid: 'another', guard: { minAvailable: 1, ready: true } });
      expect((await look()).drainGuard).toBeNull();
      await activities().ensureDrainGuard({ node: name, uid, guard: { minAvailable: 1, ready: true } });
      await objects.remove(nodeRef(name));
      await until('budget and Deployment to be gone', 60_000, async () => {
        const left = await Promise.all(
          [guardRef(name, 'policy/v1', 'PodDisruptionBudget'), guardRef(name, 'apps/v1', 'Deployment')].map((ref) =>
            objects.find(ref),
          ),
        );
        return left.every((one) => one === null) ? true : 'there';
      });
    });
  });
}
