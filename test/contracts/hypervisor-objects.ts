import { findCondition } from '../../contracts/conditions.ts';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { HypervisorStatusPatch, NewEviction } from '../../contracts/hypervisor/hypervisor.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { newHypervisor } from '../../workflows/hypervisor/node.ts';
import { until } from '../flows/until.ts';
import { type HypervisorScene, type Made, hypervisorRef, kvm, onScene } from './hypervisor-objects-context.ts';
import { type ObjectsTest, type Reference, interrupted } from './object-activities.ts';

const evictionRef = (name: string): Reference => ({ apiVersion: kvm, kind: 'Eviction', metadata: { name } });

/** The activities on Hypervisors and their Evictions; those on their Nodes are in `node-objects.ts`. */
export function describeHypervisorObjects(declare: ObjectsTest): void {
  const test = onScene(declare);

  describe('the Hypervisor of a Node', () => {
    test('is made as the Node says, once, however many ask', async (scene) => {
      const { name, audited, activities, look, readHypervisor, makeNode } = scene;
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

    test('leaves termination by the one way that the CRD allows, and a repeat changes nothing', async (scene) => {
      const { name, audited, activities, readHypervisor, makeBoth } = scene;
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

    test('keeps what another client writes at the same moment', async (scene) => {
      const { name, audited, client, activities, readHypervisor, writeAs, makeBoth } = scene;
      const { uid, generation } = await makeBoth();
      const racing = interrupted(client(), 'patch', () =>
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

    test('is left alone where its spec is not the one decided on, or it is another object', async (scene) => {
      const { name, audited, client, activities, readHypervisor, writeAs, makeBoth } = scene;
      const { uid, generation } = await makeBoth();
      const patches = [{ spec: { maintenance: 'auto' as const } }];
      await activities().patchHypervisor({ name, uid: 'another', generation, patches });
      const racing = interrupted(client(), 'patch', () =>
        writeAs('jane', { spec: { maintenance: 'manual', maintenanceReason: 'disks' } }),
      );
      await activities({ client: racing }).patchHypervisor({ name, uid, generation, patches });
      expect((await readHypervisor()).spec).toMatchObject({ maintenance: 'manual', maintenanceReason: 'disks' });
      expect(audited).toEqual([]);
    });

    test('loses the owner reference to its Node, and no other', async (scene) => {
      const { name, objects, activities, look, writeAs, makeNode, makeHypervisor } = scene;
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
    const wanted = (name: string, ownerUid: string, more: Partial<NewEviction> = {}): NewEviction => ({
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

    test('is made once, however many ask, and goes with its Hypervisor', async (scene) => {
      const { name, objects, audited, activities, look, makeBoth } = scene;
      const { uid } = await makeBoth();
      const ask = () => activities().createEviction(wanted(name, uid));
      await Promise.all([ask(), ask()]);
      await ask();
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
          cause: 'termination',
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

    test('takes another name where another host’s Eviction has the first, none where its own has', async (scene) => {
      const { name, objects, activities, look, makeBoth } = scene;
      const { uid } = await makeBoth();
      const theirs = (hypervisor: string) => ({ ...evictionRef(name), spec: { hypervisor, reason: 'theirs' } });
      await objects.create(theirs('elsewhere'));
      const ask = () => activities().createEviction(wanted(name, uid));
      await Promise.all([ask(), ask()]);
      expect((await look()).evictions).toMatchObject([
        { name: expect.stringMatching(/^hv-\d+\.example\.com-[0-9a-f]{8}$/u), ownerUid: uid },
      ]);
      await objects.remove(evictionRef(''));
      await objects.create(theirs(name));
      await ask();
      expect((await look()).evictions).toMatchObject([{ name, ownerUid: null }]);
    });

    test('is not made for a Hypervisor that is gone', async ({ name, audited, activities, look, makeBoth }) => {
      await makeBoth();
      await activities().createEviction(wanted(name, 'another'));
      expect((await look()).evictions).toEqual([]);
      expect(audited).toEqual([]);
    });

    test('is told an earlier deadline, never a later one', async (scene) => {
      const { name, objects, audited, activities, look, makeBoth } = scene;
      const { uid: ownerUid } = await makeBoth();
      await activities().createEviction(wanted(name, ownerUid));
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

    test('is deleted by its uid; one that another client made is refused', async (scene) => {
      const { name, objects, signal, client, activities, look, makeBoth } = scene;
      const { uid: ownerUid } = await makeBoth();
      await activities().createEviction(wanted(name, ownerUid));
      const { uid } = (await objects.read<Made>(evictionRef(name))).metadata;
      await activities().deleteEviction({ name, uid: 'another' });
      await expect(client().delete(resources.Eviction, { name, uid: 'another' }, signal)).rejects.toMatchObject({
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
    const writeAsAgent = ({ name, objects }: HypervisorScene, status: object) =>
      objects.mergeStatus(hypervisorRef(name), status, 'kvm-node-agent');
    const eventsOf = async ({ objects }: HypervisorScene, uid: string): Promise<string[]> => {
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

    test('writes what differs, once, with an event for each new state', async (scene) => {
      const { name, warnings, activities, readHypervisor, makeBoth } = scene;
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
      expect(await eventsOf(scene, uid)).toEqual(['Normal Testing Hypervisor']);

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
      expect((await eventsOf(scene, uid)).toSorted()).toEqual([
        'Normal Testing Hypervisor',
        'Warning Aborted Hypervisor',
      ]);
      expect(warnings).toEqual([]);
    });

    test('leaves the node agent what is the node agent’s', async (scene) => {
      const { name, activities, readHypervisor, makeBoth } = scene;
      const { uid } = await makeBoth();
      await writeAsAgent(scene, {
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

    test('keeps what the node agent writes at the same moment', async (scene) => {
      const { name, client, activities, readHypervisor, makeBoth } = scene;
      const { uid } = await makeBoth();
      const racing = interrupted(client(), 'patchStatus', () =>
        writeAsAgent(scene, { numInstances: 1, conditions: [agentCondition] }),
      );
      await activities({ client: racing }).publishHypervisor({
        name,
        uid,
        status: { ...nothing, conditions: [saying('Lifecycle', 'True', 'Active')] },
      });
      const { status } = await readHypervisor();
      expect(status?.numInstances).toBe(1);
      expect(status?.conditions?.map(({ type }) => type).toSorted()).toEqual(['Lifecycle', 'libvirtd.service']);
      expect(await eventsOf(scene, uid)).toEqual(['Normal Active Hypervisor']);
    });

    test('writes nothing into another object of the same name, nor where there is none', async (scene) => {
      const { name, activities, readHypervisor, makeBoth } = scene;
      await makeBoth();
      const report = { name, uid: 'another', status: { ...nothing, evicted: true } };
      await activities().publishHypervisor(report);
      expect((await readHypervisor()).status).toBeUndefined();
      await activities().publishHypervisor({ ...report, name: 'nowhere' });
    });
  });

  test('a look at nothing', async ({ look }) => {
    expect(await look()).toEqual({
      certificate: null,
      digest: null,
      desired: null,
      recorded: {
        conditions: [],
        hypervisorId: null,
        serviceId: null,
        evicted: false,
        libVirtVersion: null,
        traits: null,
        aggregates: null,
        internalIp: null,
      },
      node: null,
      evictions: [],
      agentPods: null,
      drainGuard: null,
      hold: null,
    });
  });

  test('a look at a Node and its Hypervisor, with what holds it', async (scene) => {
    const { name, look, writeAs, makeNode, makeHypervisor } = scene;
    const uid = await makeNode();
    await makeHypervisor();
    await writeAs('other', { metadata: { annotations: { 'drover.dev/hold': 'Fenced: powered off' } } });
    expect(await look()).toMatchObject({
      desired: { name, lifecycleEnabled: false },
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

  test('nothing is changed while drover is stopped', async (scene) => {
    const { name, objects, audited, activities, look, readHypervisor, makeNode, makeHypervisor } = scene;
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
