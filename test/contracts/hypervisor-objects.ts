import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { ObjectMeta } from '../../contracts/crds/schema.ts';
import type { HypervisorObjectActivities } from '../../contracts/hypervisor-activities.ts';
import type { HypervisorStatusPatch, NewEviction, NewHypervisor } from '../../contracts/hypervisor.ts';
import { labClock } from '../../lab/clock.ts';
import { createHypervisorObjectActivities } from '../../activities/kubernetes/hypervisor-activities.ts';
import { createHypervisorClient } from '../../activities/kubernetes/hypervisor-client.ts';
import type { HypervisorObjectDependencies } from '../../activities/kubernetes/hypervisor-dependencies.ts';
import { readHypervisorWorld } from '../../activities/kubernetes/read-hypervisor-world.ts';
import type { AuditEntry } from '../../runtime/audit.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes.ts';
import { newHypervisor } from '../../workflows/hypervisor/map-node.ts';
import { until } from '../flows/until.ts';
import type { ObjectAccess, ObjectsTest, Reference } from './object-activities.ts';
import { interrupted, objectAccess } from './object-activities.ts';

const kvm = 'kvm.cloud.sap/v1';
const hypervisorRef = (name: string): Reference => ({ apiVersion: kvm, kind: 'Hypervisor', metadata: { name } });
const evictionRef = (name: string): Reference => ({ apiVersion: kvm, kind: 'Eviction', metadata: { name } });
const nodeRef = (name: string): Reference => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

interface Tainted {
  spec: { taints?: { key: string }[] };
}

/** The activities on Hypervisors. */
export function describeHypervisorObjects(declare: ObjectsTest): void {
  let worker: Kubernetes;
  let objects: ObjectAccess;
  let name = '';
  let audited: AuditEntry[] = [];
  let warnings: string[] = [];
  const { signal } = new AbortController();
  const taint = 'kvm.cloud.sap/offboarding';
  const guardRef = (apiVersion: string, kind: string): Reference => ({
    apiVersion,
    kind,
    metadata: { namespace: 'kube-system', name: `maint-${name}` },
  });

  const test = (words: string, body: () => Promise<void>): void =>
    declare(words, async (counterpart) => {
      ({ worker } = counterpart);
      objects = objectAccess(counterpart.admin);
      name = `hv-${counterpart.number}.example.com`;
      [audited, warnings] = [[], []];
      await body();
    });

  const client = () => createHypervisorClient(worker);

  const activities = (more: Partial<HypervisorObjectDependencies> = {}) =>
    createHypervisorObjectActivities({
      client: client(),
      stopGate: async () => undefined,
      audit: { record: async (entry) => void audited.push(entry) },
      clock: labClock(),
      guardImage: 'busybox:1.37',
      scope: () => ({
        signal,
        deadlineMs: labClock().now() + 60_000,
        heartbeatDetails: undefined,
        run: { workflowId: `hypervisor/${name}`, runId: 'run-1' },
        heartbeat: () => undefined,
        scheduledMs: labClock().now(),
        warn: (message) => void warnings.push(message),
      }),
      ...more,
    });

  const look = (more: Partial<Parameters<typeof readHypervisorWorld>[0]> = {}) =>
    readHypervisorWorld(
      { client: client(), scope: { signal }, copiedLabels: [], agentNamespaces: [], guardsDrain: true, ...more },
      name,
    );

  interface Made {
    metadata: ObjectMeta & { ownerReferences?: { uid: string; controller?: boolean }[] };
  }
  const readHypervisor = () => objects.read<Hypervisor>(hypervisorRef(name));

  const writeAs = (manager: string, change: object) => objects.merge(hypervisorRef(name), change, manager);

  async function makeNode(labels: Record<string, string> = {}, spec: object = {}): Promise<string> {
    const all = { 'nova.openstack.cloud.sap/virt-driver': 'kvm', 'topology.kubernetes.io/zone': 'zone-a', ...labels };
    const { metadata } = await objects.create<Made>({ ...nodeRef(name), metadata: { name, labels: all }, spec });
    const status = {
      nodeInfo: { bootID: 'boot-1' },
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    };
    await objects.mergeStatus(nodeRef(name), status);
    return metadata.uid;
  }

  /** As drover makes it of its Node. */
  async function makeHypervisor(spec: Partial<NewHypervisor['spec']> = {}): Promise<Hypervisor['metadata']> {
    const made = newHypervisor({ ...(await look()).node!, name }, []);
    if (made === null) throw new Error('the Node is no hypervisor');
    await activities().createHypervisor({ ...made, spec: { ...made.spec, ...spec } });
    audited = [];
    return (await readHypervisor()).metadata;
  }

  async function makeBoth(spec: Partial<NewHypervisor['spec']> = {}): Promise<Hypervisor['metadata']> {
    await makeNode();
    return await makeHypervisor(spec);
  }

  describe('the Hypervisor of a Node', () => {
    test('is made as the Node says, once, however many ask', async () => {
      const nodeUid = await makeNode({
        'cobaltcore.cloud.sap/node-hypervisor-lifecycle': 'skip-tests',
        'example.com/other': 'x',
      });
      const { node, desired } = await look();
      expect(desired).toBeNull();
      const made = newHypervisor(node!, [])!;
      await Promise.all([activities().createHypervisor(made), activities().createHypervisor(made)]);
      const { metadata, spec } = await readHypervisor();
      expect(spec).toMatchObject({
        lifecycleEnabled: true,
        skipTests: true,
        highAvailability: true,
        evacuateOnReboot: false,
        maintenance: '',
      });
      expect(metadata.labels).toEqual({ 'topology.kubernetes.io/zone': 'zone-a' });
      expect(metadata.managedFields?.map(({ manager }) => manager)).toEqual(['drover']);
      expect(audited).toMatchObject([
        {
          action: 'createHypervisor',
          object: `hypervisor/${name}`,
          actor: 'drover',
          before: null,
          run: { runId: 'run-1' },
        },
      ]);
      expect((await look()).desired).toMatchObject({
        nodeUid,
        touchedByKubectl: false,
        ownedByNode: false,
        fromNode: ['label:topology.kubernetes.io/zone', 'lifecycleEnabled', 'skipTests'],
      });
      await activities().createHypervisor(made);
      expect((await readHypervisor()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    });

    test('leaves termination by the one way that the CRD allows, and a repeat changes nothing', async () => {
      const { uid, generation } = await makeBoth({ maintenance: 'termination' });
      const request = {
        name,
        uid,
        generation,
        patches: [
          { labels: { 'topology.kubernetes.io/zone': null }, spec: { maintenance: 'ha' as const, skipTests: true } },
          { spec: { maintenance: '' as const } },
        ],
      };
      await activities().patchHypervisor(request);
      const after = await readHypervisor();
      expect(after.spec).toMatchObject({ maintenance: '', skipTests: true });
      expect(after.metadata.labels ?? {}).toEqual({});
      expect(audited.map(({ action, before }) => [action, before])).toEqual([
        [
          'patchHypervisor',
          {
            labels: { 'topology.kubernetes.io/zone': 'zone-a' },
            annotations: {},
            spec: { maintenance: 'termination', skipTests: false },
          },
        ],
        ['patchHypervisor', { labels: {}, annotations: {}, spec: { maintenance: 'ha' } }],
      ]);
      await activities().patchHypervisor(request);
      expect((await readHypervisor()).metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    });

    test('keeps what somebody else writes at the same moment', async () => {
      const { uid, generation } = await makeBoth();
      const racing = interrupted(client(), 'patchHypervisor', () =>
        writeAs('other', { metadata: { annotations: { theirs: 'x' } } }),
      );
      await activities({ client: racing }).patchHypervisor({
        name,
        uid,
        generation,
        patches: [{ annotations: { 'drover.dev/retry-handled': 'now' }, spec: { maintenance: 'auto' } }],
      });
      const { metadata, spec } = await readHypervisor();
      expect(metadata.annotations).toMatchObject({ theirs: 'x', 'drover.dev/retry-handled': 'now' });
      expect(spec?.maintenance).toBe('auto');
      expect(audited).toHaveLength(1);
    });

    test('is left alone where the spec is not the one that the decision was made on, or the object is another one', async () => {
      const { uid, generation } = await makeBoth();
      const patches = [{ spec: { maintenance: 'auto' as const } }];
      await activities().patchHypervisor({ name, uid: 'another', generation, patches });
      const racing = interrupted(client(), 'patchHypervisor', () =>
        writeAs('jane', { spec: { maintenance: 'manual', maintenanceReason: 'disks' } }),
      );
      await activities({ client: racing }).patchHypervisor({ name, uid, generation, patches });
      expect((await readHypervisor()).spec).toMatchObject({ maintenance: 'manual', maintenanceReason: 'disks' });
      expect(audited).toEqual([]);
    });

    test('loses the owner reference to its Node, and no other', async () => {
      const nodeUid = await makeNode();
      const { uid, generation } = await makeHypervisor();
      const theirs = {
        apiVersion: 'v1',
        kind: 'Namespace',
        name: 'default',
        uid: (await objects.read<Made>({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } })).metadata
          .uid,
      };
      await writeAs('other', {
        metadata: {
          ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid: nodeUid, blockOwnerDeletion: true }, theirs],
        },
      });
      expect((await look()).desired?.ownedByNode).toBe(true);
      await activities().patchHypervisor({ name, uid, generation, patches: [{ dropNodeOwner: true }] });
      expect((await objects.read<Made>(hypervisorRef(name))).metadata.ownerReferences).toEqual([theirs]);
    });
  });

  describe('the Eviction of a Hypervisor', () => {
    const wanted = (ownerUid: string, more: Partial<NewEviction> = {}): NewEviction => ({
      name,
      hypervisor: name,
      ownerUid,
      reason: 'maintenance',
      cause: 'termination',
      deadline: '2026-01-01T02:00:00.000Z',
      reEnable: false,
      labels: { 'topology.kubernetes.io/zone': 'zone-a' },
      ...more,
    });

    test('is made once, however many ask, and goes with its Hypervisor', async () => {
      const { uid } = await makeBoth();
      await Promise.all([activities().createEviction(wanted(uid)), activities().createEviction(wanted(uid))]);
      await activities().createEviction(wanted(uid));
      const { metadata, spec } = await objects.read<Eviction>(evictionRef(name));
      expect(spec).toEqual({ hypervisor: name, reason: 'maintenance' });
      expect(metadata.annotations).toEqual({
        'drover.dev/eviction-cause': 'termination',
        'drover.dev/re-enable': 'false',
        'drover.dev/deadline': '2026-01-01T02:00:00.000Z',
      });
      expect(metadata.labels).toEqual({ 'topology.kubernetes.io/zone': 'zone-a' });
      expect(audited).toMatchObject([{ action: 'createEviction', object: `eviction/${name}`, cause: 'maintenance' }]);
      expect((await look()).evictions).toEqual([
        {
          name,
          uid: metadata.uid,
          ownerUid: uid,
          deleting: false,
          state: 'waiting',
          message: 'not begun yet',
          deadline: '2026-01-01T02:00:00.000Z',
        },
      ]);
      await objects.remove(hypervisorRef(name));
      await until('the Eviction to be gone', 30_000, async () =>
        (await objects.find(evictionRef(name))) === null ? true : 'there',
      );
    });

    test('takes another name where the Eviction of another host has the first, and none where its host’s own has', async () => {
      const { uid } = await makeBoth();
      const theirs = (hypervisor: string) => ({ ...evictionRef(name), spec: { hypervisor, reason: 'theirs' } });
      await objects.create(theirs('elsewhere'));
      await Promise.all([activities().createEviction(wanted(uid)), activities().createEviction(wanted(uid))]);
      expect((await look()).evictions).toMatchObject([
        { name: expect.stringMatching(/^hv-\d+\.example\.com-[0-9a-f]{8}$/u), ownerUid: uid },
      ]);
      await objects.remove(evictionRef(''));
      await objects.create(theirs(name));
      await activities().createEviction(wanted(uid));
      expect((await look()).evictions).toMatchObject([{ name, ownerUid: null }]);
    });

    test('is not made for a Hypervisor that is gone', async () => {
      await makeBoth();
      await activities().createEviction(wanted('another'));
      expect((await look()).evictions).toEqual([]);
      expect(audited).toEqual([]);
    });

    test('is told an earlier deadline, never a later one', async () => {
      const { uid: ownerUid } = await makeBoth();
      await activities().createEviction(wanted(ownerUid));
      const { uid } = (await objects.read<Made>(evictionRef(name))).metadata;
      const deadline = async (text: string): Promise<string | null | undefined> => {
        await activities().setEvictionDeadline({ name, uid, deadline: text });
        return (await look()).evictions[0]?.deadline;
      };
      expect(await deadline('2026-01-01T01:00:00.000Z')).toBe('2026-01-01T01:00:00.000Z');
      expect(await deadline('2026-01-01T03:00:00.000Z')).toBe('2026-01-01T01:00:00.000Z');
      expect(audited.filter(({ action }) => action === 'setEvictionDeadline')).toHaveLength(1);
      await activities().setEvictionDeadline({ name, uid: 'another', deadline: '2026-01-01T00:00:00.000Z' });
      expect((await look()).evictions[0]?.deadline).toBe('2026-01-01T01:00:00.000Z');
    });

    test('is deleted by its uid; one that somebody else made is refused', async () => {
      const { uid: ownerUid } = await makeBoth();
      await activities().createEviction(wanted(ownerUid));
      const { uid } = (await objects.read<Made>(evictionRef(name))).metadata;
      await activities().deleteEviction({ name, uid: 'another' });
      await expect(client().deleteEviction({ name, uid: 'another' }, signal)).rejects.toMatchObject({
        type: 'ObjectConflict',
      });
      expect((await look()).evictions).toHaveLength(1);
      await Promise.all([activities().deleteEviction({ name, uid }), activities().deleteEviction({ name, uid })]);
      expect((await look()).evictions).toEqual([]);
      await objects.create({ ...evictionRef(name), spec: { hypervisor: name, reason: 'theirs' } });
      const foreign = (await objects.read<Made>(evictionRef(name))).metadata.uid;
      await expect(activities().deleteEviction({ name, uid: foreign })).rejects.toMatchObject({
        type: 'InvalidInput',
        nonRetryable: true,
      });
      expect((await look()).evictions).toHaveLength(1);
    });
  });

  describe('a Node', () => {
    /** Without the one that kube-apiserver gives every new Node. */
    const taints = async (): Promise<{ key: string }[]> =>
      (await objects.read<Tainted>(nodeRef(name))).spec.taints?.filter(
        ({ key }) => key !== 'node.kubernetes.io/not-ready',
      ) ?? [];

    test('is tainted and untainted beside the taints of others', async () => {
      const theirs = { key: 'example.com/theirs', value: 'x', effect: 'NoSchedule' };
      const uid = await makeNode({}, { taints: [theirs] });
      const late = { key: 'example.com/late', effect: 'NoExecute' };
      const racing = interrupted(client(), 'setTaints', async () =>
        objects.merge(nodeRef(name), {
          spec: { taints: [...((await objects.read<Tainted>(nodeRef(name))).spec.taints ?? []), late] },
        }),
      );
      await activities({ client: racing }).taintNode({ node: name, uid });
      await activities().taintNode({ node: name, uid });
      const all = await taints();
      expect(all).toHaveLength(3);
      expect(all).toEqual(
        expect.arrayContaining([theirs, expect.objectContaining(late), { key: taint, effect: 'NoExecute' }]),
      );
      expect((await look()).node?.offboardingTaint).toBe(true);
      await activities().untaintNode({ node: name, uid });
      await activities().untaintNode({ node: name, uid });
      expect(await taints()).toHaveLength(2);
      expect(audited.map(({ action, object }) => [action, object])).toEqual([
        ['taintNode', `node/${name}`],
        ['untaintNode', `node/${name}`],
      ]);
    });

    test('that is another one by now keeps its agents', async () => {
      await makeNode();
      await activities().taintNode({ node: name, uid: 'another' });
      expect(await taints()).toEqual([]);
    });

    test('tells which agents are left on it, once they are being driven off', async () => {
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
    const parts = async () => ({
      budget: await objects.read<{
        metadata: ObjectMeta & { ownerReferences: object[] };
        spec: { minAvailable: number; selector: { matchLabels: object } };
      }>(guardRef('policy/v1', 'PodDisruptionBudget')),
      deployment: await objects.read<{
        metadata: ObjectMeta;
        spec: { replicas: number; template: { metadata: { labels: object }; spec: { containers: object[] } } };
      }>(guardRef('apps/v1', 'Deployment')),
    });

    test('is made, released and made again', async () => {
      const uid = await makeNode();
      const ensure: HypervisorObjectActivities['ensureDrainGuard'] = (request) =>
        activities().ensureDrainGuard(request);
      await Promise.all([
        ensure({ node: name, uid, guard: { minAvailable: 1, ready: false } }),
        ensure({ node: name, uid, guard: { minAvailable: 1, ready: false } }),
      ]);
      expect((await look()).drainGuard).toEqual({ minAvailable: 1, ready: false });
      const { budget, deployment } = await parts();
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

    test('is written again when somebody changes it in between', async () => {
      const uid = await makeNode();
      await activities().ensureDrainGuard({ node: name, uid, guard: { minAvailable: 1, ready: true } });
      const racing = interrupted(client(), 'putDeployment', () =>
        objects.merge(guardRef('apps/v1', 'Deployment'), { spec: { replicas: 2 } }),
      );
      await activities({ client: racing }).ensureDrainGuard({
        node: name,
        uid,
        guard: { minAvailable: 0, ready: true },
      });
      expect((await look()).drainGuard).toEqual({ minAvailable: 0, ready: true });
    });

    test('replaces what the operator before drover made, and nothing else of that name', async () => {
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
      await objects.merge(guardRef('apps/v1', 'Deployment'), { metadata: { labels: selector } });
      await activities().ensureDrainGuard({ node: name, uid, guard });
      expect((await look()).drainGuard).toEqual(guard);
      expect((await parts()).deployment.spec.template.spec.containers).toEqual([
        expect.not.objectContaining({ startupProbe: expect.anything() }),
      ]);
    });

    test('is not made for a Node that is gone, and goes with its Node', async () => {
      const uid = await makeNode();
      await activities().ensureDrainGuard({ node: name, uid: 'another', guard: { minAvailable: 1, ready: true } });
      expect((await look()).drainGuard).toBeNull();
      await activities().ensureDrainGuard({ node: name, uid, guard: { minAvailable: 1, ready: true } });
      await objects.remove(nodeRef(name));
      await until('budget and Deployment to be gone', 60_000, async () => {
        const left = await Promise.all(
          [guardRef('policy/v1', 'PodDisruptionBudget'), guardRef('apps/v1', 'Deployment')].map((ref) =>
            objects.find(ref),
          ),
        );
        return left.every((one) => one === null) ? true : 'there';
      });
    });
  });

  describe('publishing', () => {
    const nothing: HypervisorStatusPatch = {
      conditions: [],
      removed: [],
      hypervisorId: null,
      serviceId: null,
      traits: null,
      aggregates: null,
      internalIp: null,
      evicted: null,
      libVirtVersion: null,
    };
    const saying = (type: string, status: 'True' | 'False' | 'Unknown', reason: string) => ({
      type,
      status,
      reason,
      message: `${reason} since`,
      observedGeneration: 1,
    });
    const agentCondition = {
      type: 'libvirtd.service',
      status: 'True',
      reason: 'Running',
      message: 'active',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    const writeAsAgent = (status: object) => objects.mergeStatus(hypervisorRef(name), status, 'kvm-node-agent');
    const events = async (uid: string): Promise<string[]> => {
      const all = await objects.list<{ reason: string; type: string; regarding: { uid: string; kind: string } }>(
        { apiVersion: 'events.k8s.io/v1', kind: 'Event' },
        'default',
      );
      return all
        .filter(({ regarding }) => regarding.uid === uid)
        .map(({ type, reason, regarding }) => `${type} ${reason} ${regarding.kind}`);
    };
    const ownersOf = ({ metadata }: Hypervisor, field: string): (string | undefined)[] =>
      metadata.managedFields
        ?.filter(({ subresource, fieldsV1 }) => subresource === 'status' && JSON.stringify(fieldsV1).includes(field))
        .map(({ manager }) => manager) ?? [];

    test('writes what differs, once, with an event for each new state', async () => {
      const { uid } = await makeBoth();
      const testing = {
        ...nothing,
        conditions: [saying('Lifecycle', 'Unknown', 'Testing'), saying('Evicting', 'False', 'Succeeded')],
        hypervisorId: 'h',
        serviceId: 's',
        internalIp: '192.0.2.1',
        traits: ['CUSTOM_A'],
        aggregates: [{ name: 'zone-a', uuid: 'u', metadata: { availability_zone: 'zone-a' } }],
        evicted: false,
        libVirtVersion: '10.0.0',
      };
      await activities().publishHypervisor({ name, uid, status: testing });
      const first = await readHypervisor();
      expect(first.status).toMatchObject({
        hypervisorId: 'h',
        serviceId: 's',
        internalIp: '192.0.2.1',
        traits: ['CUSTOM_A'],
        aggregates: [{ name: 'zone-a' }],
        evicted: false,
        libVirtVersion: '10.0.0',
        numInstances: 0,
      });
      await activities().publishHypervisor({ name, uid, status: testing });
      expect((await readHypervisor()).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(await events(uid)).toEqual(['Normal Testing Hypervisor']);

      await activities().publishHypervisor({
        name,
        uid,
        status: {
          ...nothing,
          conditions: [saying('Lifecycle', 'False', 'Aborted')],
          removed: ['Evicting'],
          evicted: true,
        },
      });
      const { status } = await readHypervisor();
      expect(status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Lifecycle Aborted']);
      expect(status).toMatchObject({ evicted: true, serviceId: 's' });
      expect((await events(uid)).toSorted()).toEqual(['Normal Testing Hypervisor', 'Warning Aborted Hypervisor']);
      expect(warnings).toEqual([]);
    });

    test('leaves the node agent what is the node agent’s', async () => {
      const { uid } = await makeBoth();
      await writeAsAgent({
        numInstances: 3,
        libVirtVersion: '11.1.0',
        capabilities: { cpuArch: 'x86_64' },
        conditions: [agentCondition],
      });
      await activities().publishHypervisor({
        name,
        uid,
        status: {
          ...nothing,
          conditions: [saying('Lifecycle', 'True', 'Active')],
          libVirtVersion: '10.0.0',
          evicted: false,
        },
      });
      const after = await readHypervisor();
      expect(after.status).toMatchObject({
        numInstances: 3,
        libVirtVersion: '11.1.0',
        capabilities: { cpuArch: 'x86_64' },
      });
      expect(findCondition(after.status?.conditions, 'libvirtd.service')).toEqual(agentCondition);
      for (const field of ['f:numInstances', 'f:libVirtVersion', 'libvirtd.service'])
        expect([field, ownersOf(after, field)]).toEqual([field, ['kvm-node-agent']]);
      for (const field of ['f:evicted', 'Lifecycle'])
        expect([field, ownersOf(after, field)]).toEqual([field, ['drover']]);
    });

    test('keeps what the node agent writes at the same moment', async () => {
      const { uid } = await makeBoth();
      const racing = interrupted(client(), 'patchHypervisorStatus', () =>
        writeAsAgent({ numInstances: 1, conditions: [agentCondition] }),
      );
      await activities({ client: racing }).publishHypervisor({
        name,
        uid,
        status: { ...nothing, conditions: [saying('Lifecycle', 'True', 'Active')] },
      });
      const { status } = await readHypervisor();
      expect(status?.numInstances).toBe(1);
      expect(status?.conditions?.map(({ type }) => type).toSorted()).toEqual(['Lifecycle', 'libvirtd.service']);
      expect(await events(uid)).toEqual(['Normal Active Hypervisor']);
    });

    test('writes nothing into another object of the same name, nor where there is none', async () => {
      await makeBoth();
      const report = { name, uid: 'another', status: { ...nothing, evicted: true } };
      await activities().publishHypervisor(report);
      expect((await readHypervisor()).status).toBeUndefined();
      await activities().publishHypervisor({ ...report, name: 'nowhere' });
    });
  });

  test('a look at nothing', async () => {
    expect(await look()).toEqual({
      desired: null,
      hypervisor: null,
      recorded: { conditions: [], hypervisorId: null, serviceId: null, evicted: false, libVirtVersion: null },
      node: null,
      evictions: [],
      agentPods: null,
      drainGuard: null,
      hold: null,
    });
  });

  test('a look at a Node and its Hypervisor, with what holds it', async () => {
    const uid = await makeNode();
    await makeHypervisor();
    await writeAs('other', { metadata: { annotations: { 'drover.dev/hold': 'Fenced: powered off' } } });
    expect(await look()).toMatchObject({
      desired: { name, lifecycleEnabled: false },
      hypervisor: { kind: 'Hypervisor' },
      node: {
        name,
        uid,
        internalIp: '192.0.2.1',
        bootId: 'boot-1',
        ready: true,
        readySinceMs: Date.parse('2026-01-01T00:00:00Z'),
      },
      hold: { reason: 'Fenced', message: 'powered off' },
    });
  });

  test('nothing is changed while drover is stopped', async () => {
    const uid = await makeNode();
    const { uid: hypervisorUid, generation, resourceVersion } = await makeHypervisor();
    const stoppedActivities = activities({
      stopGate: async () => {
        throw droverFailure('Stopped', 'Everything was stopped by jane');
      },
    });
    const stopped = { type: 'Stopped' };
    await expect(
      stoppedActivities.createHypervisor({ ...newHypervisor((await look()).node!, [])!, name: 'another' }),
    ).rejects.toMatchObject(stopped);
    await expect(
      stoppedActivities.patchHypervisor({
        name,
        uid: hypervisorUid,
        generation,
        patches: [{ spec: { maintenance: 'auto' } }],
      }),
    ).rejects.toMatchObject(stopped);
    await expect(
      stoppedActivities.createEviction({
        name,
        hypervisor: name,
        ownerUid: hypervisorUid,
        reason: 'r',
        cause: 'admin',
        deadline: null,
        reEnable: false,
        labels: {},
      }),
    ).rejects.toMatchObject(stopped);
    await expect(stoppedActivities.taintNode({ node: name, uid })).rejects.toMatchObject(stopped);
    await expect(
      stoppedActivities.ensureDrainGuard({ node: name, uid, guard: { minAvailable: 1, ready: true } }),
    ).rejects.toMatchObject(stopped);
    expect(await look()).toMatchObject({ evictions: [], drainGuard: null, node: { offboardingTaint: false } });
    expect((await readHypervisor()).metadata.resourceVersion).toBe(resourceVersion);
    expect(await objects.find(hypervisorRef('another'))).toBeNull();
    expect(audited).toEqual([]);
  });
}
