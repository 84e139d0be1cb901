import {
  createReadBootstrap,
  createVirtualMachineObjectActivities,
} from '../../activities/kubernetes/virtual-machine/activities.ts';
import type { VirtualMachineObjectDependencies } from '../../activities/kubernetes/virtual-machine/dependencies.ts';
import { hashSecret } from '../../activities/kubernetes/virtual-machine/hash-secret.ts';
import type { ConditionUpdate } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import type { ObservedObjects, VirtualMachineRead } from '../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineSettings } from '../../contracts/virtual-machine/lifecycle.ts';
import { virtualMachineFinalizers } from '../../contracts/virtual-machine/metadata.ts';
import type { VirtualMachineStatusPatch } from '../../contracts/virtual-machine/mutations.ts';
import {
  type BatchSpec,
  type BatchVolume,
  claimAnnotations,
  instanceVolumeName,
} from '../../contracts/virtual-machine/volumes.ts';
import { labClock } from '../../lab/clock.ts';
import { installKind } from '../../lab/vsphere/image-cache.ts';
import { installPolicyEvaluations, policyReference } from '../../lab/vsphere/policy-player.ts';
import { installAttachmentKinds } from '../../lab/vsphere/volume-player.ts';
import { virtualMachineConfig, virtualMachineSettings } from '../../runtime/config/virtual-machine-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import { until } from '../flows/until.ts';
import { type ObjectAccess, type ObjectsTest, type Reference, interrupted, objectAccess } from './object-activities.ts';

/** With all that the tests make in it. */
export const vmNamespace = 'vm-objects';
const namespace = vmNamespace;
const apiVersion = 'vmoperator.vmware.com/v1alpha6';
const { current: finalizer, deprecated } = virtualMachineFinalizers;
const vmRef = (name: string): Reference => ({ apiVersion, kind: 'VirtualMachine', metadata: { namespace, name } });

/** The activities on VirtualMachines. */
export function describeVirtualMachineObjects(declare: ObjectsTest): void {
  let worker: Kubernetes;
  let admin: Kubernetes;
  let objects: ObjectAccess;
  let name = '';
  let audited: AuditEntry[] = [];
  let warnings: string[] = [];
  let scheduledMs = 0;
  const { signal } = new AbortController();

  const test = (words: string, body: () => Promise<void>): void =>
    declare(words, async (counterpart) => {
      ({ worker, admin } = counterpart);
      objects = objectAccess(admin);
      name = `vm-${counterpart.number}`;
      scheduledMs = labClock().now();
      [audited, warnings] = [[], []];
      await body();
    });

  const client = () => openObjects(worker);

  const settings = (more: Partial<VirtualMachineSettings> = {}): VirtualMachineSettings => ({
    ...virtualMachineSettings(virtualMachineConfig.parse(undefined), { vcenters: ['vc'], cluster: '', mode: 'act' }),
    ...more,
  });

  const activities = (more: Partial<VirtualMachineObjectDependencies> = {}) =>
    createVirtualMachineObjectActivities({
      client: client(),
      settings: settings(),
      imageCacheNamespace: 'drover-system',
      hashSecret,
      signalWithStart: () => Promise.reject(new Error('no run is to be signalled')),
      stopGate: async () => undefined,
      audit: { record: async (entry) => void audited.push(entry) },
      clock: labClock(),
      scope: () => ({
        signal,
        deadlineMs: labClock().now() + 60_000,
        heartbeatDetails: undefined,
        run: { workflowId: `virtualmachine/${namespace}/${name}`, runId: 'run-1' },
        heartbeat: () => undefined,
        scheduledMs,
        waitedMs: 0,
        warn: (message) => void warnings.push(message),
      }),
      ...more,
    });

  const observe = async (
    more: Partial<VirtualMachineObjectDependencies> = {},
  ): Promise<Extract<VirtualMachineRead, { kind: 'observed' }>> => {
    const read = await activities(more).readVirtualMachine({ namespace, name });
    if (read.kind !== 'observed') throw new Error(`it is not driven: ${JSON.stringify(read)}`);
    return read;
  };
  const facts = async (more: Partial<VirtualMachineObjectDependencies> = {}): Promise<ObservedObjects> =>
    (await observe(more)).observed.objects;

  const create = (object: object) => objects.create(object);
  const make = async (spec: object = {}, metadata: object = {}): Promise<VirtualMachine['metadata']> => {
    return (await objects.create<VirtualMachine>({ ...vmRef(name), metadata: { namespace, name, ...metadata }, spec }))
      .metadata;
  };
  const readVm = (): Promise<VirtualMachine> => objects.read<VirtualMachine>(vmRef(name));
  const write = (manager: string, change: object) => objects.merge(vmRef(name), change, manager);

  const small = () => ({
    apiVersion,
    kind: 'VirtualMachineClass',
    metadata: { namespace, name: 'small' },
    spec: { hardware: { cpus: 2, memory: '4Gi' } },
  });
  const fast = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner: 'example.com/none',
    parameters: { storagePolicyID: 'profile-1' },
  };
  const secret = (of: string, data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: of },
    stringData: data,
  });

  async function makeImage(
    kind: 'VirtualMachineImage' | 'ClusterVirtualMachineImage',
    of: string,
    status: 'True' | 'False',
  ): Promise<void> {
    const metadata = { ...(kind === 'VirtualMachineImage' && { namespace }), name: of };
    await create({
      apiVersion,
      kind,
      metadata,
      spec: {
        providerRef: { apiVersion: 'imageregistry.vmware.com/v1alpha2', kind: 'ContentLibraryItem', name: 'item' },
      },
    });
    const conditions = [
      { type: 'Ready', status, reason: 'Synced', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    await objects.mergeStatus(
      { apiVersion, kind, metadata },
      { conditions, providerItemID: 'item-1', providerContentVersion: '3', type: 'OVF' },
    );
  }

  describe('a look', () => {
    test('at nothing', async () => {
      expect(await observe()).toMatchObject({
        desired: null,
        observed: { recorded: {}, objects: { class: null, networks: [] } },
      });
    });

    test('at a VirtualMachine and all that it names', async () => {
      await Promise.all([
        create(small()),
        create(fast),
        create(secret('user-data', { data: '#cloud-config' })),
        makeImage('VirtualMachineImage', 'vmi-1', 'True'),
        makeImage('ClusterVirtualMachineImage', 'iso-1', 'True'),
      ]);
      await create({
        apiVersion,
        kind: 'VirtualMachineSetResourcePolicy',
        metadata: { namespace, name: 'policy' },
        spec: { folder: 'web', clusterModuleGroups: ['g'] },
      });
      const { uid, generation } = await make({
        className: 'small',
        image: { kind: 'VirtualMachineImage', name: 'vmi-1' },
        storageClass: 'fast',
        reserved: { resourcePolicyName: 'policy' },
        bootstrap: { cloudInit: { rawCloudConfig: { name: 'user-data', key: 'data' } } },
        hardware: { cdrom: [{ name: 'cd1', image: { kind: 'ClusterVirtualMachineImage', name: 'iso-1' } }] },
      });
      const {
        desired,
        observed: { objects },
      } = await observe();
      expect(desired).toMatchObject({
        namespace,
        name,
        uid,
        generation,
        powerState: 'PoweredOn',
        className: 'small',
        networkCards: [{ name: 'eth0' }],
      });
      expect(objects).toEqual({
        class: {
          kind: 'found',
          value: expect.objectContaining({
            name: 'small',
            generation: 1,
            compute: expect.objectContaining({ numCPUs: 2, memoryMB: 4_096 }),
          }),
        },
        image: {
          kind: 'found',
          value: expect.objectContaining({
            providerItemId: 'item-1',
            providerVersion: '3',
            ready: expect.objectContaining({ status: 'True' }),
          }),
        },
        resourcePolicy: {
          kind: 'found',
          value: { name: 'policy', deleting: false, folder: 'web', resourcePool: null, modules: { g: {} } },
        },
        storageClass: { kind: 'found', value: { profileId: 'profile-1' } },
        bootstrap: {
          kind: 'found',
          value: {
            missingKeys: [],
            configHash: expect.stringMatching(/^[0-9a-f]{40}$/u),
            customHash: null,
            isDefault: false,
          },
        },
        isos: { cd1: 'item-1' },
        networks: [{ name: 'eth0', network: null }],
        imageCache: {
          kind: 'notFound',
          message: expect.stringContaining('does not know that kind'),
          unknownKind: true,
        },
        group: null,
        snapshots: { inProgress: null, problem: null },
        volumes: null,
      });
    });

    test('where each prerequisite is missing: all of them are told at once', async () => {
      await make({
        className: 'small',
        image: { kind: 'VirtualMachineImage', name: 'vmi-1' },
        storageClass: 'fast',
        reserved: { resourcePolicyName: 'policy' },
        bootstrap: { linuxPrep: { password: { name: 'root', key: 'password' } } },
      });
      const missing = (what: string) => ({ kind: 'notFound', message: expect.stringContaining(`There is no ${what}`) });
      expect(await facts()).toMatchObject({
        class: missing('VirtualMachineClass small'),
        image: missing('VirtualMachineImage vmi-1'),
        storageClass: missing('StorageClass fast'),
        resourcePolicy: missing('VirtualMachineSetResourcePolicy policy'),
        bootstrap: missing('Secret root'),
      });
    });

    test('where they are there, and no good', async () => {
      await Promise.all([
        create({ ...small(), spec: {} }),
        create({ ...fast, parameters: { type: 'thin' } }),
        create(secret('root', { other: 'x' })),
        makeImage('VirtualMachineImage', 'vmi-1', 'False'),
      ]);
      await make({
        className: 'small',
        image: { kind: 'VirtualMachineImage', name: 'vmi-1' },
        storageClass: 'fast',
        bootstrap: { linuxPrep: { password: { name: 'root', key: 'password' } } },
      });
      expect(await facts()).toMatchObject({
        class: { kind: 'invalid' },
        image: { kind: 'found', value: { ready: { status: 'False', reason: 'Synced' } } },
        storageClass: { kind: 'invalid', message: expect.stringContaining('storagePolicyID') },
        bootstrap: { kind: 'found', value: { missingKeys: ['root/password'] } },
      });
    });

    test('beside kinds that are not installed', async () => {
      await makeImage('VirtualMachineImage', 'vmi-1', 'True');
      await make({ image: { kind: 'VirtualMachineImage', name: 'vmi-1' }, groupName: 'g' });
      expect(await facts({ settings: settings({ fastDeploy: 'linked', groups: true }) })).toMatchObject({
        imageCache: { kind: 'notFound', message: expect.stringContaining('does not know that kind') },
        group: { found: false },
      });
    });

    test('at the group that has placed it', async () => {
      await installKind(admin, 'VirtualMachineGroup', 'virtualmachinegroups');
      await create({
        apiVersion,
        kind: 'VirtualMachineGroup',
        metadata: { namespace, name: 'g' },
        spec: { bootOrder: [{ members: [{ kind: 'VirtualMachine', name }] }] },
      });
      const member = {
        kind: 'VirtualMachine',
        name,
        placement: { zoneID: 'zone-a', pool: 'resgroup-1', datastores: [{ id: 'datastore-1' }] },
      };
      await objects.mergeStatus(
        { apiVersion, kind: 'VirtualMachineGroup', metadata: { namespace, name: 'g' } },
        { members: [member] },
      );
      await make({ groupName: 'g' });
      expect((await facts({ settings: settings({ groups: true }) })).group).toEqual({
        found: true,
        linked: true,
        placement: { zone: 'zone-a', resourcePool: 'resgroup-1', datastore: 'datastore-1', host: null },
      });
    });
  });

  test('the data of a bootstrap are those whose hash was told, and in nothing that goes through a history', async () => {
    await create(secret('user-data', { data: '#cloud-config\npassword: hunter2\n' }));
    const { uid } = await make({ bootstrap: { cloudInit: { rawCloudConfig: { name: 'user-data', key: 'data' } } } });
    const read = createReadBootstrap({ client: client(), hashSecret });
    const before = await observe();
    expect(JSON.stringify(before)).not.toContain('hunter2');
    const hash =
      before.observed.objects.bootstrap?.kind === 'found' ? before.observed.objects.bootstrap.value.configHash : null;
    expect((await read({ namespace, name, uid }, 'CloudInit', signal)).config?.hash).toBe(hash);
    await objects.merge(
      { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'user-data' } },
      { stringData: { data: '#cloud-config\n' } },
    );
    expect((await read({ namespace, name, uid }, 'CloudInit', signal)).config?.hash).not.toBe(hash);
    await expect(read({ namespace, name, uid: 'another' }, 'CloudInit', signal)).rejects.toMatchObject({
      type: 'ObjectNotFound',
    });
  });

  describe('a VirtualMachine', () => {
    const hold = {
      addFinalizers: [finalizer],
      removeFinalizers: [deprecated],
      annotations: { 'vmoperator.vmware.com/manager-id': 'vc' },
      spec: { instanceUUID: '11111111-1111-4111-8111-111111111111' },
    };

    test('is held and filled in once, however many do it', async () => {
      const { uid, generation } = await make({}, { finalizers: ['example.com/theirs', deprecated] });
      const request = {
        namespace,
        name,
        uid,
        generation,
        patches: [hold, { labels: { 'topology.kubernetes.io/zone': 'zone-a' } }],
      };
      await Promise.all([activities().patchVirtualMachine(request), activities().patchVirtualMachine(request)]);
      const after = await readVm();
      expect(after.metadata.finalizers).toEqual(['example.com/theirs', finalizer]);
      expect(after).toMatchObject({
        metadata: { labels: { 'topology.kubernetes.io/zone': 'zone-a' }, annotations: hold.annotations },
        spec: hold.spec,
      });
      expect(audited.map(({ action, object }) => [action, object])).toEqual(
        audited.map(() => ['patchVirtualMachine', `virtualmachine/${namespace}/${name}`]),
      );
      await activities().patchVirtualMachine(request);
      expect((await readVm()).metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    });

    test('keeps what another client writes at the same moment', async () => {
      const { uid, generation } = await make();
      const racing = interrupted(client(), 'patch', () =>
        write('other', { metadata: { annotations: { theirs: 'x' }, finalizers: ['example.com/theirs'] } }),
      );
      await activities({ client: racing }).patchVirtualMachine({ namespace, name, uid, generation, patches: [hold] });
      const { metadata } = await readVm();
      expect(metadata.annotations).toMatchObject({ theirs: 'x', ...hold.annotations });
      expect(metadata.finalizers).toEqual(['example.com/theirs', finalizer]);
      expect(audited).toHaveLength(1);
    });

    test('is left alone where its spec is another one by now, or where it is another one', async () => {
      const { uid, generation } = await make();
      await activities().patchVirtualMachine({ namespace, name, uid: 'another', generation, patches: [hold] });
      const racing = interrupted(client(), 'patch', () => write('jane', { spec: { powerState: 'PoweredOff' } }));
      await activities({ client: racing }).patchVirtualMachine({ namespace, name, uid, generation, patches: [hold] });
      const { metadata, spec } = await readVm();
      expect(spec?.powerState).toBe('PoweredOff');
      expect(spec?.instanceUUID).toBeUndefined();
      expect(metadata.finalizers).toBeUndefined();
      expect(audited).toEqual([]);
    });

    test('that was made anew under the same name in the moment between is not touched', async () => {
      const { uid, generation } = await make();
      const racing = interrupted(client(), 'patch', async () => {
        await objects.remove(vmRef(name));
        await make();
      });
      await activities({ client: racing }).patchVirtualMachine({
        namespace,
        name,
        uid,
        generation,
        patches: [{ annotations: { 'drover.dev/creating': 'now' } }],
      });
      const { metadata } = await readVm();
      expect(metadata.uid).not.toBe(uid);
      expect(metadata.annotations?.['drover.dev/creating']).toBeUndefined();
    });

    test('that is being deleted is released, and not held anew', async () => {
      const { uid } = await make({}, { finalizers: [finalizer] });
      await objects.remove(vmRef(name));
      const { generation } = (await readVm()).metadata;
      await activities().patchVirtualMachine({
        namespace,
        name,
        uid,
        generation,
        patches: [{ addFinalizers: ['vmoperator.vmware.com/other'] }],
      });
      expect((await readVm()).metadata.finalizers).toEqual([finalizer]);
      await activities().patchVirtualMachine({
        namespace,
        name,
        uid,
        generation,
        patches: [{ removeFinalizers: [finalizer] }, { annotations: { late: 'x' } }],
      });
      await until('it to be gone', 15_000, async () => ((await objects.find(vmRef(name))) === null ? true : 'there'));
      await activities().patchVirtualMachine({
        namespace,
        name,
        uid,
        generation,
        patches: [{ removeFinalizers: [finalizer] }],
      });
    });
  });

  describe('what a VirtualMachine says', () => {
    const saying = (type: string, status: ConditionUpdate['status'], reason: string): ConditionUpdate => ({
      type,
      status,
      reason,
      message: `${reason}.`,
      observedGeneration: 1,
    });
    const patch = (more: Partial<VirtualMachineStatusPatch>): VirtualMachineStatusPatch => ({
      fields: {},
      conditions: [],
      removed: [],
      ...more,
    });
    const events = async (): Promise<string[]> => {
      const all = await objects.list<{
        type: string;
        reason: string;
        regarding: { kind: string; name: string; namespace: string };
      }>({ apiVersion: 'events.k8s.io/v1', kind: 'Event' }, namespace);
      return all
        .filter(({ regarding }) => regarding.name === name)
        .map(({ type, reason, regarding }) => `${type} ${reason} ${regarding.kind} ${regarding.namespace}`);
    };
    type Report = Parameters<ReturnType<typeof activities>['publishVirtualMachine']>[0];
    const publish = (
      report: Pick<Report, 'uid' | 'status' | 'event'> & Partial<Report>,
      more?: Partial<VirtualMachineObjectDependencies>,
    ) => activities(more).publishVirtualMachine({ namespace, name, generation: 1, notes: [], ...report });
    const created = { type: 'Normal', reason: 'CreateSuccess', message: 'Create success' } as const;

    test('is written where it differs, with its Event, and read by people', async () => {
      const { uid } = await make();
      const status = patch({
        fields: { powerState: 'PoweredOn', uniqueID: 'vm-61', network: { primaryIP4: '192.0.2.1', hostName: 'web' } },
        conditions: [saying('Lifecycle', 'Unknown', 'Creating'), saying('VirtualMachineCreated', 'True', 'True')],
      });
      await publish({ uid, status, event: created });
      const first = await readVm();
      expect(first.status).toMatchObject({
        powerState: 'PoweredOn',
        uniqueID: 'vm-61',
        network: { primaryIP4: '192.0.2.1', hostName: 'web' },
      });
      await publish({ uid, status, event: created });
      expect((await readVm()).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
      expect(await events()).toEqual([`Normal CreateSuccess VirtualMachine ${namespace}`]);

      const later = patch({
        fields: { uniqueID: null, network: { hostName: 'web' } },
        conditions: [saying('Lifecycle', 'True', 'Reconciled')],
        removed: ['VirtualMachineCreated'],
      });
      scheduledMs += 1;
      await publish({ uid, status: later, event: { type: 'Warning', reason: 'UpdateFailure', message: 'no room' } });
      const { status: after } = await readVm();
      expect(after).toMatchObject({ powerState: 'PoweredOn', network: { hostName: 'web' } });
      expect(after?.uniqueID).toBeUndefined();
      expect(after?.network?.primaryIP4).toBeUndefined();
      expect(after?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Lifecycle Reconciled']);
      expect((await events()).toSorted()).toEqual([
        `Normal CreateSuccess VirtualMachine ${namespace}`,
        `Warning UpdateFailure VirtualMachine ${namespace}`,
      ]);
      expect(warnings).toEqual([]);
    });

    test('leaves alone what others say, also at the same moment', async () => {
      const { uid } = await make();
      const theirs = {
        type: 'GuestBootstrap',
        status: 'True',
        reason: 'Done',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const racing = interrupted(client(), 'patchStatus', () =>
        objects.mergeStatus(
          vmRef(name),
          { conditions: [theirs], volumes: [{ name: 'a', type: 'Managed', attached: true }] },
          'csi',
        ),
      );
      const said = patch({
        fields: { powerState: 'PoweredOff' },
        conditions: [saying('Lifecycle', 'True', 'Reconciled')],
      });
      await publish({ uid, status: said, event: null }, { client: racing });
      const { status } = await readVm();
      expect(status).toMatchObject({ powerState: 'PoweredOff', volumes: [{ name: 'a', attached: true }] });
      expect(status?.conditions?.map(({ type }) => type).toSorted()).toEqual(['GuestBootstrap', 'Lifecycle']);
      expect(await events()).toEqual([]);
    });

    test('is written nowhere where there is none, or another one of that name', async () => {
      await make();
      const report = { uid: 'another', status: patch({ fields: { powerState: 'PoweredOn' } }), event: created };
      await publish(report);
      await publish({ ...report, name: 'nowhere' });
      expect((await readVm()).status).toBeUndefined();
      expect(await events()).toEqual([]);
    });

    test('is written with the notes, in one call', async () => {
      const { uid } = await make();
      const notes = [
        {
          annotations: { 'drover.dev/creating': null, 'virtualmachine.vmoperator.vmware.com/first-boot-done': 'true' },
        },
      ];
      const written = await publish({
        uid,
        status: patch({ fields: { powerState: 'PoweredOn' } }),
        event: null,
        notes,
      });
      expect(written).toMatchObject({ desired: { firstBootDone: true }, recorded: { powerState: 'PoweredOn' } });
      expect((await readVm()).metadata.annotations).toMatchObject({
        'virtualmachine.vmoperator.vmware.com/first-boot-done': 'true',
      });
    });

    test('that kube-apiserver refuses is told without what it refuses, and is a failure with its words', async () => {
      const { uid } = await make();
      const devices = [
        { type: 'Disk', unitNumber: 0 },
        { type: 'CDROM', unitNumber: 0 },
      ] as const;
      const status = patch({
        fields: {
          hardware: { controllers: [{ type: 'SCSI', busNumber: 0, deviceKey: 1_000, devices: [...devices] }] },
        },
        conditions: [saying('Lifecycle', 'Unknown', 'Creating')],
      });
      const notes = [{ annotations: { 'drover.dev/creating': '2026-01-01T00:00:00Z' } }];
      await expect(publish({ uid, status, event: created, notes })).rejects.toMatchObject({
        type: 'ObjectRefused',
        message: expect.stringContaining('Duplicate value'),
      });
      const { status: after, metadata } = await readVm();
      expect(after?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual(['Lifecycle Creating']);
      expect(metadata.annotations).toMatchObject(notes[0]!.annotations);
      expect(await events()).toEqual([`Normal CreateSuccess VirtualMachine ${namespace}`]);
    });

    test('an Event alone', async () => {
      const { uid, resourceVersion } = await make();
      await publish({ uid, status: null, event: created });
      expect((await readVm()).metadata.resourceVersion).toBe(resourceVersion);
      expect(await events()).toEqual([`Normal CreateSuccess VirtualMachine ${namespace}`]);
    });
  });

  describe('a VirtualMachineImageCache', () => {
    const wanted = (datastoreId: string) => ({
      name: 'vmi-1',
      providerId: 'item-1',
      providerVersion: '3',
      location: { datacenterId: 'dc', datastoreId, profileId: 'p' },
    });
    const at = (datastoreID: string) => ({ datacenterID: 'dc', datastoreID, profileID: 'p' });
    const readCache = async () =>
      (
        await objects.find<{
          spec: { providerID: string; providerVersion: string; locations: { datastoreID: string }[] };
        }>({ apiVersion, kind: 'VirtualMachineImageCache', metadata: { namespace: 'drover-system', name: 'vmi-1' } })
      )?.spec;

    test('where the kind is not installed: says so, and does not try again', async () => {
      await expect(activities().ensureImageCache(wanted('ds-1'))).rejects.toMatchObject({
        type: 'ImageCacheNotInstalled',
        nonRetryable: true,
        message: expect.stringContaining('virtualMachine.fastDeploy'),
      });
      expect(audited).toEqual([]);
    });

    test('is made, and gets each location once, however many ask at once', async () => {
      await installKind(admin, 'VirtualMachineImageCache', 'virtualmachineimagecaches');
      await Promise.all(['ds-1', 'ds-1', 'ds-2'].map((datastore) => activities().ensureImageCache(wanted(datastore))));
      expect(await readCache()).toMatchObject({ providerID: 'item-1', providerVersion: '3' });
      expect((await readCache())?.locations).toEqual(expect.arrayContaining([at('ds-1'), at('ds-2')]));
      expect((await readCache())?.locations).toHaveLength(2);
      const before = audited.length;
      await activities().ensureImageCache(wanted('ds-1'));
      expect(audited).toHaveLength(before);
      await makeImage('VirtualMachineImage', 'vmi-1', 'True');
      await make(
        { image: { kind: 'VirtualMachineImage', name: 'vmi-1' } },
        { labels: { 'vmicache.vmoperator.vmware.com/name': 'vmi-1' } },
      );
      expect((await facts({ settings: settings({ fastDeploy: 'direct' }) })).imageCache).toEqual({
        kind: 'found',
        value: { hardwareReady: false, silentSinceMs: expect.any(Number), locations: [] },
      });
    });
  });

  describe('policies', () => {
    const named = policyReference('gold');
    const evaluation = () => ({
      apiVersion: 'vsphere.policy.vmware.com/v1alpha1',
      kind: 'PolicyEvaluation',
      metadata: { namespace, name: `vm-${name}` },
    });
    const makeWithPolicy = async () => {
      await installPolicyEvaluations(admin);
      return await make({ policies: [named] }, { labels: { app: 'web' } });
    };
    const workload = { labels: { app: 'web' }, guest: { guestID: 'sles15_64Guest', guestFamily: 'Linux' as const } };

    test('a VM that names none is not evaluated', async () => {
      await make();
      const { desired, observed } = await observe();
      expect([desired?.policies, observed.objects.policies]).toEqual([undefined, undefined]);
    });

    test('one that named some is, until its status names none', async () => {
      await installPolicyEvaluations(admin);
      await make();
      await objects.mergeStatus(vmRef(name), { policies: [{ ...named, generation: 1 }] });
      const { desired, observed } = await observe();
      expect(desired?.policies).toEqual({ named: [], labels: {} });
      expect(observed.objects.policies).toEqual({ served: true, problem: null, evaluation: null });
    });

    test('it is made with the VirtualMachine as its owner, once, and asks for what is said now', async () => {
      const { uid } = await makeWithPolicy();
      expect((await observe()).desired?.policies).toEqual({ named: [named], labels: { app: 'web' } });
      const owner = { namespace, name, uid };
      const spec = { policies: [named], image: { name: 'vmi-1', labels: { os: 'sles' } }, workload };
      expect(await activities().ensurePolicyEvaluation({ ...owner, spec, before: null })).toEqual({ isCurrent: true });
      expect(await activities().ensurePolicyEvaluation({ ...owner, spec, before: null })).toEqual({ isCurrent: true });
      expect(audited.map(({ action, object }) => [action, object])).toEqual([
        ['ensurePolicyEvaluation', `policyevaluation/${namespace}/vm-${name}`],
      ]);
      const found = (await facts()).policies?.evaluation;
      expect(found).toMatchObject({ own: true, deleting: false, spec, isCurrent: false, ready: null, results: [] });

      // What is not asked for any more is taken away, labels too.
      const next = { policies: [named], workload: { labels: { app: 'web' } } };
      const before = { uid: found?.uid ?? '', spec };
      expect(await activities().ensurePolicyEvaluation({ ...owner, spec: next, before: null })).toEqual({
        isCurrent: false,
      });
      expect(
        await activities().ensurePolicyEvaluation({ ...owner, spec: next, before: { ...before, uid: 'of-another' } }),
      ).toEqual({ isCurrent: false });
      expect(await activities().ensurePolicyEvaluation({ ...owner, spec: next, before })).toEqual({ isCurrent: true });
      expect((await facts()).policies?.evaluation?.spec).toEqual(next);
    });

    test('what it comes to is read with the generation that it is of', async () => {
      const { uid } = await makeWithPolicy();
      const spec = { policies: [named] };
      await activities().ensurePolicyEvaluation({ namespace, name, uid, spec, before: null });
      const ready = {
        type: 'Ready',
        status: 'True',
        reason: 'True',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const policies = [
        { ...named, observedGeneration: 3, tags: ['tag-1', 'tag-2'] },
        { kind: 'ComputePolicy', name: 'own' },
      ];
      await objects.mergeStatus(evaluation(), { observedGeneration: 1, policies, conditions: [ready] });
      const found = (await facts()).policies?.evaluation;
      expect(found).toMatchObject({ isCurrent: true, ready: { isTrue: true, message: '' } });
      expect(found?.results).toEqual([
        { ...named, generation: 3, tags: ['tag-1', 'tag-2'] },
        { ...policyReference('own'), generation: 0, tags: [] },
      ]);
      const before = { uid: found?.uid ?? '', spec };
      await activities().ensurePolicyEvaluation({ namespace, name, uid, spec: { ...spec, workload }, before });
      expect((await facts()).policies?.evaluation?.isCurrent).toBe(false);
    });

    test('another object’s is known as such, and not written', async () => {
      const { uid } = await makeWithPolicy();
      const spec = { policies: [named] };
      await create({ ...evaluation(), spec });
      expect((await facts()).policies?.evaluation).toMatchObject({ own: false, spec });
      expect(await activities().ensurePolicyEvaluation({ namespace, name, uid, spec, before: null })).toEqual({
        isCurrent: false,
      });
    });

    test('the labels of the image are read where policies are evaluated', async () => {
      await makeImage('VirtualMachineImage', 'vmi-1', 'True');
      await installPolicyEvaluations(admin);
      const image = { image: { kind: 'VirtualMachineImage', name: 'vmi-1' } };
      await make({ ...image, policies: [named] });
      expect((await facts()).image).toMatchObject({ kind: 'found', value: { labels: {} } });
    });
  });

  describe('volumes of claims', () => {
    const attachment = (of: string) => ({
      apiVersion: 'cns.vmware.com/v1alpha1',
      kind: 'CnsNodeVmAttachment',
      metadata: { namespace, name: of },
    });
    const batch = () => ({
      apiVersion: 'cns.vmware.com/v1alpha1',
      kind: 'CnsNodeVMBatchAttachment',
      metadata: { namespace, name },
    });
    const place = { controllerKey: 1_000, unitNumber: 1, diskMode: 'persistent', sharingMode: 'sharingNone' } as const;
    const makeWithVolume = async () => {
      await installAttachmentKinds(admin);
      return await make({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: `claim-${name}` } }] });
    };

    test('there is none, and there was none', async () => {
      await make();
      expect((await facts()).volumes).toBeNull();
    });

    test('a claim that is not there is said; nothing is attached yet', async () => {
      await makeWithVolume();
      expect((await facts()).volumes).toEqual({
        served: { single: true, batch: true },
        problem: null,
        claims: {
          [`claim-${name}`]: {
            kind: 'unread',
            message: `There is no PersistentVolumeClaim claim-${name}`,
            isMissing: true,
          },
        },
        attachments: [],
        batch: null,
      });
    });

    test('one is made with the VirtualMachine as its owner, once, and deleted only while it is the same', async () => {
      const { uid } = await makeWithVolume();
      const owner = { namespace, name, uid };
      const attach = { kind: 'attach', name: `${name}-data`, biosUuid: 'b-1', claim: `claim-${name}` } as const;
      await activities().changeVolumes({ ...owner, changes: [attach] });
      await activities().changeVolumes({ ...owner, changes: [attach] });
      expect(audited.map(({ action, object }) => [action, object])).toEqual([
        ['attachVolume', `cnsnodevmattachment/${namespace}/${name}-data`],
      ]);
      await objects.mergeStatus(attachment(`${name}-data`), {
        attached: true,
        metadata: { diskUUID: 'disk-1' },
        error: 'ServerFaultCode: a fault, opId: 4711',
      });
      const { attachments = [] } = (await facts()).volumes ?? {};
      expect(attachments).toMatchObject([
        {
          name: `${name}-data`,
          volume: 'data',
          claim: `claim-${name}`,
          biosUuid: 'b-1',
          own: true,
          attached: true,
          diskUuid: 'disk-1',
          error: 'ServerFaultCode',
          deletingSinceMs: null,
        },
      ]);
      const other = { ...attach, claim: 'another' };
      expect(await activities().changeVolumes({ ...owner, changes: [other] })).toEqual({ isCurrent: false });
      const detach = { kind: 'detach', name: `${name}-data` } as const;
      const ofAnother = { ...detach, uid: 'of-another' };
      expect(await activities().changeVolumes({ ...owner, changes: [ofAnother] })).toEqual({ isCurrent: false });
      expect(await objects.find(attachment(`${name}-data`))).not.toBeNull();
      const own = attachments[0]?.uid ?? '';
      expect(await activities().changeVolumes({ ...owner, changes: [{ ...detach, uid: own }] })).toEqual({
        isCurrent: true,
      });
      expect(await objects.find(attachment(`${name}-data`))).toBeNull();
    });

    test('a batch is made, and changed as long as its spec is what was read', async () => {
      const { uid } = await makeWithVolume();
      const owner = { namespace, name, uid };
      const change = (volumes: BatchVolume[], before: BatchSpec | null) => ({
        ...owner,
        changes: [{ kind: 'batch' as const, instanceUuid: 'i-1', volumes, before }],
      });
      const data = { name: 'data', claim: `claim-${name}`, ...place };
      await activities().changeVolumes(change([data], null));
      await activities().changeVolumes(change([data], null));
      expect(audited).toHaveLength(1);
      const found = (await facts()).volumes?.batch;
      expect(found).toMatchObject({ own: true, instanceUuid: 'i-1', volumes: [data], status: [] });
      await objects.mergeStatus(batch(), {
        volumes: [
          {
            name: 'data',
            persistentVolumeClaim: {
              claimName: `claim-${name}`,
              diskUUID: 'disk-1',
              conditions: [
                {
                  type: 'VolumeAttached',
                  status: 'False',
                  reason: 'AttachFailed',
                  message: 'no space',
                  lastTransitionTime: '2026-01-01T00:00:00Z',
                },
              ],
            },
          },
        ],
      });
      const now = (await facts()).volumes?.batch;
      expect(now?.status).toEqual([
        { name: 'data', claim: `claim-${name}`, attached: false, diskUuid: 'disk-1', error: 'no space' },
      ]);
      const before = { uid: now?.uid ?? '', instanceUuid: 'i-1', volumes: [data] };
      expect(await activities().changeVolumes(change([], { ...before, volumes: [] }))).toEqual({ isCurrent: false });
      expect(await activities().changeVolumes(change([], before))).toEqual({ isCurrent: true });
      expect((await facts()).volumes?.batch?.volumes).toEqual([]);
    });

    test('another object’s are known as such', async () => {
      await makeWithVolume();
      await create({ ...attachment(`${name}-data`), spec: { nodeuuid: 'b-1', volumename: 'theirs' } });
      expect((await facts()).volumes?.attachments).toMatchObject([{ own: false, claim: 'theirs' }]);
    });

    test('instance storage is written into the spec once, and its claims are made for a host, and deleted', async () => {
      const { uid } = await makeWithVolume();
      const owner = { namespace, name, uid };
      const [first, second] = [instanceVolumeName(uid, 0), instanceVolumeName(uid, 1)];
      const storageClass = `local-${name}`;
      const add = (size: string) => ({
        kind: 'addInstanceVolumes' as const,
        volumes: [first, second].map((volume) => ({ name: volume, storageClass, size })),
      });
      await activities().changeVolumes({ ...owner, changes: [add('1Gi')] });
      await activities().changeVolumes({ ...owner, changes: [add('2Gi')] });
      const read = async () => {
        const answer = await activities().readVirtualMachine({ namespace, name });
        return answer.kind === 'observed' ? answer.desired : null;
      };
      expect((await read())?.volumes).toMatchObject([
        { name: 'data' },
        { name: first, claim: first, instance: { storageClass, size: '1Gi' } },
        { name: second, claim: second, instance: { storageClass, size: '1Gi' } },
      ]);
      expect((await read())?.instanceStorage).toEqual({ host: null, isBound: false });
      expect((await facts()).instanceStorageClass).toMatchObject({ kind: 'notFound' });
      await create({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: storageClass },
        provisioner: 'csi.vsphere.vmware.com',
        parameters: { storagePolicyID: 'profile-local' },
      });
      expect((await facts()).instanceStorageClass).toEqual({ kind: 'found', value: { profileId: 'profile-local' } });

      const make = { kind: 'makeClaim', claim: first, node: 'esx-1', storageClass, size: '1Gi' } as const;
      await activities().changeVolumes({ ...owner, changes: [make] });
      expect(await activities().changeVolumes({ ...owner, changes: [make] })).toEqual({ isCurrent: true });
      const elsewhere = { ...make, node: 'esx-2' };
      expect(await activities().changeVolumes({ ...owner, changes: [elsewhere] })).toEqual({ isCurrent: false });
      const claimManifest = {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { namespace, name: first },
      };
      const claimOf = async () => {
        const found = (await facts()).volumes?.claims[first];
        return found?.kind === 'found' ? found.value : null;
      };
      const made = await claimOf();
      expect(made).toMatchObject({
        phase: 'Pending',
        selectedNode: 'esx-1',
        requested: '1Gi',
        instance: { own: true, deleting: false, failure: null },
      });
      expect(made?.instance?.createdMs).toBeGreaterThan(0);
      await objects.merge(claimManifest, {
        metadata: { annotations: { [claimAnnotations.storagePool]: 'FAILED_PLACEMENT-NotEnoughResources' } },
      });
      expect((await claimOf())?.instance?.failure).toBe('FAILED_PLACEMENT-NotEnoughResources');
      const remove = { kind: 'deleteClaim', claim: first } as const;
      const of = (claimUid: string) => ({ ...owner, changes: [{ ...remove, uid: claimUid }] });
      expect(await activities().changeVolumes(of('of-another'))).toEqual({ isCurrent: false });
      expect(await activities().changeVolumes(of(made?.instance?.uid ?? ''))).toEqual({ isCurrent: true });
      // kube-apiserver keeps claims until it knows that no Pod uses them.
      const left = await claimOf();
      expect(left === null || left.instance?.deleting).toBe(true);
      expect(audited.map(({ action }) => action)).toEqual(['addInstanceVolumes', 'makeClaim', 'deleteClaim']);
    });

    test('a claim that waits for its first consumer gets the zone, once', async () => {
      await makeWithVolume();
      await create({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: `late-${name}` },
        provisioner: 'csi.vsphere.vmware.com',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      await create({
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { namespace, name: `claim-${name}` },
        spec: {
          storageClassName: `late-${name}`,
          accessModes: ['ReadWriteOnce'],
          resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } },
        },
      });
      const claimOf = async () => (await facts()).volumes?.claims[`claim-${name}`];
      const value = { phase: 'Pending', waitsForConsumer: true, requested: '1Gi', limit: '2Gi' };
      expect(await claimOf()).toEqual({ kind: 'found', value: { ...value, selectedNode: null } });
      const changes = (zone: string) => [{ kind: 'selectZone' as const, claim: `claim-${name}`, zone }];
      const { uid } = (await readVm()).metadata;
      await activities().changeVolumes({ namespace, name, uid, changes: changes('zone-a') });
      await activities().changeVolumes({ namespace, name, uid, changes: changes('zone-b') });
      expect(await claimOf()).toEqual({ kind: 'found', value: { ...value, selectedNode: 'zone-a' } });
    });
  });

  test('nothing is changed while drover is stopped', async () => {
    const { uid, generation, resourceVersion } = await make();
    const stopped = activities({
      stopGate: async () => {
        throw droverFailure('Stopped', 'Everything was stopped by jane');
      },
    });
    await expect(
      stopped.patchVirtualMachine({ namespace, name, uid, generation, patches: [{ annotations: { a: 'b' } }] }),
    ).rejects.toMatchObject({ type: 'Stopped' });
    expect((await readVm()).metadata.resourceVersion).toBe(resourceVersion);
    // What is so may be said all the same.
    await stopped.publishVirtualMachine({
      namespace,
      name,
      uid,
      generation: 1,
      notes: [],
      status: { fields: { powerState: 'PoweredOn' }, conditions: [], removed: [] },
      event: null,
    });
    expect((await readVm()).status?.powerState).toBe('PoweredOn');
    expect(audited).toEqual([]);
  });
}
