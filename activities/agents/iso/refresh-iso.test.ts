import { createHash } from 'node:crypto';

import { z } from 'zod';

import { agentPoolAnnotations } from '../../../contracts/agent-pool/metadata.ts';
import type { RefreshedIso } from '../../../contracts/agent-pool/agent-pool.ts';
import type { VsphereAgentPool } from '../../../contracts/crds/vsphere-agent-pool.ts';
import { secret } from '../../../contracts/kinds/resources.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { neighbourResources, resources, typed } from '../../../runtime/kubernetes/resources.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import { randomOf } from '../../../test/faults/random.ts';
import { drive } from '../../../test/fakes/drive.ts';
import { createFakeIsos } from '../../../test/fakes/isos.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import { createFakeVcenter } from '../../../test/fakes/vsphere/vcenter.ts';
import { createVirtualClock } from '../../../test/simulator/clock.ts';
import { createNetwork } from '../../../test/simulator/network.ts';
import type { AnyVirtualDevice } from '../../vsphere/wire/vim/types.ts';
import { openPoolVcenters } from '../vcenter/pool-vcenters.ts';
import { createIsoActivities, type IsoDependencies } from './iso-activities.ts';

const never = new AbortController().signal;
const namespace = 'team-a';
const datastore = 'LocalDS_0';
const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const fileOf = (text: string): string => `${sha(text)}.iso`;
const urlOf = (token: string, id = 'one'): string => `https://images.test/images/${id}?image_token=${token.repeat(20)}`;

/** A vCenter, a kube-apiserver and a server of ISOs in this process; two pools of one InfraEnv. */
async function openWorld() {
  const random = randomOf(3);
  const clock = createVirtualClock(Date.UTC(2026, 0, 1), random);
  const network = createNetwork({ clock, random });
  const kubernetes = createFakeKubernetes({ clock, network, random });
  const vcenter = createFakeVcenter({ clock, network, random });
  const isos = createFakeIsos({ network });
  const client = openObjects(kubernetes.admin);
  const audit: AuditEntry[] = [];
  const vcenters = openPoolVcenters({
    client,
    vcenters: [vcenter.settings],
    systemNamespace: 'drover-system',
    openVcenter: (settings) => vcenter.openVim(settings),
    openRest: (settings) => vcenter.openRest(settings),
    clock,
  });
  const [template] = vcenter.model.vms();
  if (template === undefined) throw new Error('the vCenter has no VM');
  const { hardware } = template.state.config;
  const run = <Result>(work: Promise<Result>): Promise<Result> => drive(clock, work);
  const dependencies: IsoDependencies = {
    client,
    source: isos.source,
    vcenters,
    openDatastoreHttp: (settings) => vcenter.openDatastoreHttp(settings),
    clock,
    stopGate: () => Promise.resolve(),
    audit: { record: (entry) => Promise.resolve(void audit.push(entry)) },
    scope: () => ({
      signal: never,
      deadlineMs: Infinity,
      heartbeatDetails: undefined,
      run: null,
      scheduledMs: clock.now(),
      waitedMs: 0,
      heartbeat: () => undefined,
      warn: () => undefined,
    }),
  };
  const activities = createIsoActivities(dependencies);
  const create = async (resource: Parameters<typeof client.create>[0], object: object): Promise<void> =>
    void (await run(client.create(resource as never, object as never, never)));
  await create(
    { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', schema: resources.VsphereAgentPool.schema },
    { metadata: { name: namespace } },
  ).catch(() => undefined);
  const pool = async (name: string): Promise<VsphereAgentPool> => {
    const found = await run(client.get(resources.VsphereAgentPool, { namespace, name }, never));
    if (found === null) throw new Error(`no pool ${name}`);
    return found;
  };
  const setUrl = async (url: string): Promise<void> => {
    const infraEnv = await run(client.get(neighbourResources.InfraEnv, { namespace, name: 'infra' }, never));
    await run(
      client.patchStatus(
        neighbourResources.InfraEnv,
        infraEnv?.metadata ?? { name: '' },
        { isoDownloadURL: url },
        never,
      ),
    );
  };
  await run(
    client.create(
      typed(secret, z.object({ metadata: z.object({ name: z.string() }) })),
      {
        metadata: { namespace, name: 'vcenter' },
        data: Object.fromEntries(
          Object.entries({ server: new URL(vcenter.settings.url).host, username: 'drover', password: 'simulated' }).map(
            ([key, value]) => [key, Buffer.from(value).toString('base64')],
          ),
        ),
      },
      never,
    ),
  );
  await create(neighbourResources.InfraEnv, { metadata: { namespace, name: 'infra' }, spec: {} });
  for (const name of ['blue', 'green'])
    await create(resources.VsphereAgentPool, {
      metadata: { namespace, name },
      spec: {
        agent: { labels: { a: 'b' } },
        controlPlaneNamespace: 'clusters-one',
        hostedClusterRef: { name: 'one' },
        infraEnvRef: { name: 'infra' },
        nodePoolRef: { name },
        template: {},
        vsphere: {
          credentialsSecretRef: { name: 'vcenter' },
          datacenter: 'DC0',
          datastoreCluster: 'pod',
          isoDatastore: datastore,
          network: 'VM Network',
          resourcePool: 'DC0_C0/Resources',
        },
      },
    });
  isos.set(urlOf('a'), 'first', '"1"');
  await setUrl(urlOf('a'));
  return {
    kubernetes,
    vcenter,
    isos,
    client,
    audit,
    /** Of one VM. Null: vCenter does not know its drives. */
    putIntoDrive: (fileName: string | null) => {
      const withIso = (device: AnyVirtualDevice): AnyVirtualDevice =>
        device.$type === 'VirtualCdrom'
          ? { ...device, backing: { $type: 'VirtualCdromIsoBackingInfo', fileName: fileName ?? '' } }
          : device;
      template.state.config.hardware =
        fileName === null ? (undefined as never) : { ...hardware, device: hardware.device.map(withIso) };
    },
    run,
    pool,
    setUrl,
    activities,
    dependencies,
    refresh: async (name = 'blue'): Promise<RefreshedIso> => {
      const { metadata } = await pool(name);
      return await run(activities.refreshIso({ namespace, name, uid: metadata.uid }));
    },
    change: async (name: string, change: object): Promise<void> =>
      void (await run(client.patch(resources.VsphereAgentPool, { namespace, name }, change as never, never))),
    isoOf: async (name: string) => (await pool(name)).status?.iso,
    files: async (path = 'agent-forge'): Promise<string[]> =>
      (await vcenter.witness.listFiles({ datastore, path })).toSorted(),
    uploads: async (): Promise<number> =>
      (await vcenter.control.requests()).filter(({ method }) => method === 'PUT /folder').length,
    events: (): string[] =>
      kubernetes.objects('events').map((event) => (event as unknown as { reason: string }).reason),
  };
}

test('a new ISO is uploaded, and the status says so', async () => {
  const world = await openWorld();
  expect(await world.refresh()).toEqual({
    outcome: 'uploaded',
    path: `agent-forge/${fileOf('first')}`,
    sha256: sha('first'),
    sizeBytes: 5,
  });
  const version = {
    path: `agent-forge/${fileOf('first')}`,
    sha256: sha('first'),
    sizeBytes: 5,
    uploadedAt: expect.any(String),
  };
  expect(await world.isoOf('blue')).toEqual({
    ...version,
    url: 'https://images.test/images/one',
    checkedAt: expect.any(String),
    datastore: 'lab /DC0 [LocalDS_0]',
    etag: '"1"',
    history: [version],
  });
  expect(await world.files()).toEqual([fileOf('first')]);
  expect(world.isos.files).toBe(0);
  expect(world.events()).toEqual(['ISOUploaded']);
  expect(world.audit).toMatchObject([
    { action: 'uploadIso', object: 'agentpool/team-a/blue', before: null, after: { vcenter: 'lab' } },
  ]);
});

test('what the server still has is neither sent nor uploaded again, with another token either', async () => {
  const world = await openWorld();
  await world.refresh();
  const before = await world.isoOf('blue');
  await world.setUrl(urlOf('b'));
  expect(await world.refresh()).toMatchObject({ outcome: 'unchanged' });
  expect(await world.isoOf('blue')).toEqual({ ...before, checkedAt: expect.any(String) });
  expect(world.isos).toMatchObject({ downloads: 1, unchanged: 1 });
  expect(await world.uploads()).toBe(1);
});

test('the same bytes of a server that names no versions are not uploaded again', async () => {
  const world = await openWorld();
  world.isos.set(urlOf('a'), 'first');
  await world.refresh();
  expect(await world.refresh()).toMatchObject({ outcome: 'unchanged' });
  expect(world.isos.downloads).toBe(2);
  expect(await world.uploads()).toBe(1);
  expect(world.audit).toHaveLength(1);
});

test('the annotation has the bytes compared, once', async () => {
  const world = await openWorld();
  await world.refresh();
  await world.change('blue', { metadata: { annotations: { [agentPoolAnnotations.forceIsoRefresh]: 'now' } } });
  expect(await world.refresh()).toMatchObject({ outcome: 'unchanged' });
  expect(world.isos).toMatchObject({ downloads: 2, unchanged: 0 });
  expect((await world.isoOf('blue'))?.forceRefreshToken).toBe('now');
  await world.refresh();
  expect(world.isos).toMatchObject({ downloads: 2, unchanged: 1 });
});

test('a file that is gone is uploaded again, though the server has the same', async () => {
  const world = await openWorld();
  await world.refresh();
  await world.vcenter.witness.removeFiles({ datastore, path: `agent-forge/${fileOf('first')}` });
  expect(await world.refresh()).toMatchObject({ outcome: 'uploaded' });
  expect(await world.files()).toEqual([fileOf('first')]);
});

test('two pools share one upload, also where both are due at once', async () => {
  for (const isAtOnce of [false, true]) {
    const world = await openWorld();
    const uids = [(await world.pool('blue')).metadata.uid, (await world.pool('green')).metadata.uid];
    const refresh = (name: string, index: number) =>
      world.activities.refreshIso({ namespace, name, uid: uids[index] ?? '' });
    const refreshed = isAtOnce
      ? await world.run(Promise.all(['blue', 'green'].map(refresh)))
      : [await world.run(refresh('blue', 0)), await world.run(refresh('green', 1))];
    expect(refreshed.map(({ outcome }) => outcome).toSorted()).toEqual(['reused', 'uploaded']);
    expect(await world.uploads()).toBe(1);
    expect(await world.files()).toEqual([fileOf('first')]);
    expect(world.events().toSorted()).toEqual(['ISOReused', 'ISOUploaded']);
  }
});

async function withVersions(...texts: string[]) {
  const world = await openWorld();
  for (const [index, text] of texts.entries()) {
    world.isos.set(urlOf('a'), text, `"${index + 1}"`);
    await world.refresh();
  }
  return world;
}

test('the newest versions stay, and the oldest goes', async () => {
  const world = await withVersions('first', 'second', 'third');
  expect(await world.files()).toEqual([fileOf('second'), fileOf('third')].toSorted());
  expect((await world.isoOf('blue'))?.history?.map(({ sha256 }) => sha256)).toEqual([sha('third'), sha('second')]);
  expect(world.audit.map(({ action }) => action)).toEqual(['uploadIso', 'uploadIso', 'uploadIso', 'removeIso']);
});

test('what another pool wants is not removed until that pool wants it no more', async () => {
  const world = await openWorld();
  await world.refresh('green');
  for (const [index, text] of ['first', 'second', 'third'].entries()) {
    world.isos.set(urlOf('a'), text, `"${index + 1}"`);
    await world.refresh('blue');
  }
  expect(await world.files()).toContain(fileOf('first'));
  for (const text of ['second', 'third']) {
    world.isos.set(urlOf('a'), text, `"${text}"`);
    await world.refresh('green');
  }
  expect(await world.files()).toEqual([fileOf('second'), fileOf('third')].toSorted());
});

test.each([
  [
    'is in a drive',
    (world: Awaited<ReturnType<typeof openWorld>>) =>
      world.putIntoDrive(`[${datastore}] agent-forge/${fileOf('first')}`),
  ],
  ['may be in a drive', (world) => world.putIntoDrive(null)],
  [
    'vCenter does not remove',
    (world) => world.vcenter.control.fail({ method: 'DeleteDatastoreFile_Task', fault: 'FileLocked', inTask: true }),
  ],
  [
    'may be that of other pools',
    (world) => {
      const { client } = world.dependencies;
      world.dependencies.client = {
        ...client,
        list: () => Promise.reject(droverFailure('KubernetesForbidden', 'pools of other namespaces')),
      };
    },
  ],
] as [string, (world: Awaited<ReturnType<typeof openWorld>>) => unknown][])(
  'one that %s stays, is said, and goes later',
  async (_, hold) => {
    const world = await withVersions('first', 'second');
    const list = world.dependencies.client;
    await hold(world);
    const held = createIsoActivities(world.dependencies);
    const { uid } = (await world.pool('blue')).metadata;
    world.isos.set(urlOf('a'), 'third', '"3"');
    expect(await world.run(held.refreshIso({ namespace, name: 'blue', uid }))).toMatchObject({ outcome: 'uploaded' });
    expect(await world.files()).toHaveLength(3);
    expect((await world.isoOf('blue'))?.history?.map(({ sha256 }) => sha256)).toEqual(
      ['third', 'second', 'first'].map(sha),
    );
    expect(world.events()).toContain('ISOPruneFailed');
    // The next worker, or an hour later.
    world.putIntoDrive('');
    world.dependencies.client = list;
    await world.refresh();
    await world.run(createIsoActivities(world.dependencies).refreshIso({ namespace, name: 'blue', uid }));
    expect(await world.files()).toEqual([fileOf('second'), fileOf('third')].toSorted());
    expect((await world.isoOf('blue'))?.history).toHaveLength(2);
  },
);

type World = Awaited<ReturnType<typeof openWorld>>;

/** Begins to delete a pool, and removes its ISOs. */
async function removeOf(world: World, name: string, isDeleted = true): Promise<void> {
  const key = { namespace, name };
  if (isDeleted) {
    await world.change(name, { metadata: { finalizers: ['test/held'] } });
    await world.run(world.client.delete(resources.VsphereAgentPool, key, never));
  }
  const { uid } = (await world.pool(name)).metadata;
  await world.run(world.activities.removeIsos({ ...key, uid }));
}

test('the ISOs of a pool that is deleted go with it', async () => {
  const world = await withVersions('first', 'second');
  await removeOf(world, 'blue', false);
  expect(await world.files()).toHaveLength(2);
  await removeOf(world, 'blue');
  expect(await world.files()).toEqual([]);
  expect(world.audit.map(({ action }) => action)).toEqual(['uploadIso', 'uploadIso', 'removeIso', 'removeIso']);
  await removeOf(world, 'blue', false);
  expect(world.events()).not.toContain('ISOPruneFailed');
});

test('… but for those that another pool wants, until that one is deleted', async () => {
  const world = await withVersions('first', 'second');
  await world.refresh('green');
  await removeOf(world, 'blue');
  expect(await world.files()).toEqual([fileOf('second')]);
  await removeOf(world, 'green');
  expect(await world.files()).toEqual([]);
});

test.each<[string, (world: World) => unknown, number]>([
  ['its pool retains', (world) => world.change('blue', { spec: { cleanupPolicy: 'Retain' } }), 0],
  ['it is in a drive', (world) => world.putIntoDrive(`[${datastore}] agent-forge/${fileOf('first')}`), 1],
  [
    'there is no such datastore any more',
    (world) => world.change('blue', { spec: { vsphere: { isoDatastore: 'gone' } } }),
    1,
  ],
])('… and holds no deletion up: %s', async (_, hold, events) => {
  const world = await withVersions('first');
  await hold(world);
  await removeOf(world, 'blue');
  await world.vcenter.control.reset();
  expect(await world.files()).toEqual([fileOf('first')]);
  expect(world.events().filter((reason) => reason === 'ISOPruneFailed')).toHaveLength(events);
});

test.each<[string, string, (world: World) => unknown]>([
  [
    'vCenter is away',
    'VsphereUnavailable',
    (world) => world.vcenter.control.inject({ does: 'status', status: 503, count: 1_000 }),
  ],
  [
    'a removal fails',
    'VsphereUnavailable',
    (world) =>
      world.vcenter.control.inject({ method: 'DeleteDatastoreFile_Task', does: 'status', status: 503, count: 1 }),
  ],
  [
    'drover is stopped',
    'Stopped',
    (world) => {
      world.dependencies.stopGate = () => Promise.reject(droverFailure('Stopped', 'by a test'));
    },
  ],
])('… and is tried again where %s', async (_, type, hold) => {
  const world = await withVersions('first', 'second');
  const { stopGate } = world.dependencies;
  await hold(world);
  await expect(removeOf(world, 'blue')).rejects.toMatchObject({ type });
  await world.vcenter.control.reset();
  world.dependencies.stopGate = stopGate;
  await removeOf(world, 'blue', false);
  expect(await world.files()).toEqual([]);
});

test('a file that another client wrote into the status is not removed', async () => {
  const world = await openWorld();
  await world.refresh();
  await world.vcenter.witness.makeDirectory({ datastore, path: 'web' });
  await world.vcenter.witness.createDisk({ datastore, path: 'web/web.vmdk', sizeMiB: 1 });
  const { metadata, status } = await world.pool('blue');
  await world.run(
    world.client.patchStatus(
      resources.VsphereAgentPool,
      metadata,
      {
        iso: {
          history: [
            ...(status?.iso?.history ?? []),
            { path: 'x/x.iso', sha256: sha('x') },
            { path: 'web/web.vmdk', sha256: sha('web') },
          ],
        },
      },
      never,
    ),
  );
  world.isos.set(urlOf('a'), 'second', '"2"');
  await world.refresh();
  expect(await world.files('web')).toContain('web.vmdk');
  expect((await world.isoOf('blue'))?.history?.map(({ sha256 }) => sha256)).toEqual([sha('second'), sha('first')]);
});

const notesOf = (world: World, reason: string): string[] =>
  (world.kubernetes.objects('events') as unknown as { reason: string; note: string }[])
    .filter((event) => event.reason === reason)
    .map(({ note }) => note);

test.each([
  ['another datastore: it is put there', (world: World) => world.refresh()],
  ['… also where the pool is deleted before', (world: World) => removeOf(world, 'blue')],
])('%s, and an Event names what stays in the old one', async (_, act) => {
  const world = await withVersions('first', 'second');
  await world.change('blue', { spec: { vsphere: { isoDatastore: 'LocalDS_1' } } });
  await act(world);
  expect(await world.files()).toEqual([fileOf('first'), fileOf('second')].toSorted());
  const [note, ...others] = notesOf(world, 'ISOPruneFailed');
  expect(others).toEqual([]);
  for (const text of ['first', 'second']) expect(note).toContain(`agent-forge/${fileOf(text)}`);
  expect(note).toContain('lab /DC0 [LocalDS_0]');
});

test('… which is no news later, and its history is of the new one', async () => {
  const world = await withVersions('first', 'second');
  await world.change('blue', { spec: { vsphere: { isoDatastore: 'LocalDS_1' } } });
  expect(await world.refresh()).toMatchObject({ outcome: 'uploaded' });
  const iso = await world.isoOf('blue');
  expect(iso).toMatchObject({ datastore: 'lab /DC0 [LocalDS_1]', history: [{ sha256: sha('second') }] });
  await world.refresh();
  await removeOf(world, 'blue');
  expect(await world.vcenter.witness.listFiles({ datastore: 'LocalDS_1', path: 'agent-forge' })).toEqual([]);
  expect(notesOf(world, 'ISOPruneFailed')).toHaveLength(1);
});

test('another folder: it is put there, and the old one goes in its time', async () => {
  const world = await openWorld();
  await world.refresh();
  await world.change('blue', { spec: { iso: { pathPrefix: 'team/isos', retainVersions: 1 } } });
  expect(await world.refresh()).toMatchObject({ outcome: 'uploaded', path: `team/isos/${fileOf('first')}` });
  expect(await world.files('team/isos')).toEqual([fileOf('first')]);
  expect(await world.files()).toEqual([]);
});

test('a folder that leads elsewhere is none', async () => {
  const world = await openWorld();
  for (const pathPrefix of ['a/../../vm', '..', 'a//b', '[other]']) {
    await world.change('blue', { spec: { iso: { pathPrefix } } });
    await expect(world.refresh()).rejects.toMatchObject({ type: 'InvalidObject' });
  }
  expect(world.isos.downloads).toBe(0);
});

test('without a URL, and for a pool that is gone, nothing is done', async () => {
  const world = await openWorld();
  await world.setUrl('');
  await expect(world.refresh()).rejects.toMatchObject({ type: 'IsoUnavailable' });
  await expect(
    world.run(world.activities.refreshIso({ namespace, name: 'blue', uid: 'another' })),
  ).rejects.toMatchObject({ type: 'ObjectNotFound' });
  expect(await world.uploads()).toBe(0);
});

test('a download that fails leaves what is there; nothing shows the token', async () => {
  const world = await openWorld();
  await world.refresh();
  const before = await world.isoOf('blue');
  world.isos.remove(urlOf('a'));
  await expect(world.refresh()).rejects.toMatchObject({ type: 'IsoUnavailable' });
  expect(await world.isoOf('blue')).toEqual(before);
  expect(JSON.stringify([world.kubernetes.objects('vsphereagentpools'), world.audit])).not.toContain('a'.repeat(20));
});

test('an upload that is cut is made again, and leaves nothing behind', async () => {
  const world = await openWorld();
  await world.vcenter.control.inject({ method: 'PUT /folder', does: 'cut' });
  await expect(world.refresh()).rejects.toMatchObject({ type: 'VsphereUnavailable' });
  expect(world.isos.files).toBe(0);
  const version = { path: `agent-forge/${fileOf('first')}`, sha256: sha('first'), sizeBytes: 5 };
  expect(await world.isoOf('blue')).toEqual({ datastore: 'lab /DC0 [LocalDS_0]', history: [version] });
  expect(await world.refresh()).toMatchObject({ outcome: 'uploaded' });
  expect(await world.files()).toEqual([fileOf('first')]);
  expect((await world.isoOf('blue'))?.history).toEqual([{ ...version, uploadedAt: expect.any(String) }]);
});

/** Of a pool that has no other, or has those. */
async function withCutUpload(text: string, ...before: string[]): Promise<World> {
  const world = await withVersions(...before);
  world.isos.set(urlOf('a'), text, '"cut"');
  await world.vcenter.control.inject({ method: 'PUT /folder', does: 'cut' });
  await expect(world.refresh()).rejects.toMatchObject({ type: 'VsphereUnavailable' });
  const { uid } = (await world.pool('blue')).metadata;
  expect(await world.files()).toContain(`${sha(text)}.${uid}.part`);
  return world;
}

test('what an upload that is cut has left goes with its pool', async () => {
  const world = await withCutUpload('first');
  await removeOf(world, 'blue');
  expect(await world.files()).toEqual([]);
});

test('… also where another pool wants that ISO', async () => {
  const world = await withCutUpload('first');
  await world.refresh('green');
  await removeOf(world, 'blue');
  expect(await world.files()).toEqual([fileOf('first')]);
});

test('… and with its version, where another one is uploaded', async () => {
  const world = await withCutUpload('second', 'first');
  world.isos.set(urlOf('a'), 'third', '"3"');
  await world.refresh();
  expect(await world.files()).toEqual([fileOf('first'), fileOf('third')].toSorted());
  expect((await world.isoOf('blue'))?.history?.map(({ sha256 }) => sha256)).toEqual([sha('third'), sha('first')]);
});

test('a pool that is deleted while its ISO is uploaded, before the status says that it is there', async () => {
  const world = await openWorld();
  await world.change('blue', { metadata: { finalizers: ['test/held'] } });
  const key = { namespace, name: 'blue' };
  // Right after the upload.
  world.dependencies.audit = {
    record: () => world.client.delete(resources.VsphereAgentPool, key, never),
  };
  await expect(world.refresh()).rejects.toMatchObject({ type: 'ObjectNotFound' });
  expect(await world.files()).toEqual([fileOf('first')]);
  await removeOf(world, 'blue', false);
  expect(await world.files()).toEqual([]);
});

test('nothing is uploaded for a pool that is deleted while its ISO is downloaded', async () => {
  const world = await openWorld();
  await world.change('blue', { metadata: { finalizers: ['test/held'] } });
  const { source } = world.dependencies;
  world.dependencies.source = {
    ...source,
    download: async (...request) => {
      await world.client.delete(resources.VsphereAgentPool, { namespace, name: 'blue' }, never);
      return await source.download(...request);
    },
  };
  await expect(world.refresh()).rejects.toMatchObject({ type: 'ObjectNotFound' });
  expect(await world.uploads()).toBe(0);
});
