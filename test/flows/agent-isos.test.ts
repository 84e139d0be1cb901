import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openHttpIsoSource } from '../../activities/agents/iso/http-iso-source.ts';
import type { LocalIso } from '../../activities/agents/iso/iso-source.ts';
import { type IsoStore, openIsoStore } from '../../activities/agents/iso/iso-store.ts';
import { openVcenter, type Vim } from '../../activities/vsphere/client.ts';
import { type DatastoreHttp, openDatastoreHttp } from '../../activities/vsphere/datastore-http.ts';
import { openGateway } from '../../activities/vsphere/gateway.ts';
import { type IsoControl, connectIsoControl } from '../../lab/iso/control.ts';
import { makeSmallIso } from '../../lab/iso/small-iso.ts';
import { type Lab, startLab } from '../../lab/lab.ts';
import { connectVcenterControl, type VcenterControl } from '../../lab/vsphere/control.ts';
import { govc } from '../../lab/vsphere/govc.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { systemClock as clock } from '../../runtime/clock.ts';
import { startTimeoutMs } from './vsphere-world.ts';

/** ISOs on their way from the lab's server into a datastore of its vCenter, over both wires. */

const never = new AbortController().signal;
const datastore = 'LocalDS_0';
const sizeBytes = 8 * 1_024 ** 2;
const root = realpathSync(mkdtempSync(join(tmpdir(), 'drover-isos-')));

let lab: Lab<'vsphere' | 'isos'>;
let isos: IsoControl;
let vcenter: VcenterControl;
let vim: Vim;
let http: DatastoreHttp;
let source: ReturnType<typeof openHttpIsoSource>;

beforeAll(async () => {
  lab = await startLab({ dir: join(root, 'lab'), parts: ['vsphere', 'isos'] });
  const { vsphere, isos: server } = lab.handles;
  isos = connectIsoControl(server);
  vcenter = connectVcenterControl(vsphere);
  const settings = {
    name: 'lab',
    url: vsphere.url,
    credential: () =>
      Promise.resolve({ username: vsphere.username, password: readFileSync(vsphere.passwordFile, 'utf8') }),
    ca: readFileSync(vsphere.caFile, 'utf8'),
    thumbprint: null,
    budget: { calls: 8, callsPerSecond: 1_000, tasks: 32 },
    places: { zones: {}, storagePolicies: {}, networks: {} },
  };
  vim = openVcenter(settings, { clock });
  http = openDatastoreHttp(settings, vim, { clock, transferMs: 60_000 });
  source = openHttpIsoSource(
    {
      hosts: [new URL(server.url).host],
      ca: readFileSync(server.caFile, 'utf8'),
      directory: join(root, 'downloads'),
      maxBytes: 64 * 1_024 ** 2,
      timeoutMs: 60_000,
    },
    { clock },
  );
}, startTimeoutMs);
afterAll(async () => {
  await Promise.all([source?.close(), http?.close(), vim?.close()]);
  await lab?.stop();
  rmSync(root, { recursive: true, force: true });
});

/** Attempts at tests so far. */
let attempts = 0;
beforeEach(async () => {
  attempts += 1;
  // Where one has failed.
  await vcenter.reset();
  rmSync(join(root, 'downloads'), { recursive: true, force: true });
});
/** Of this attempt alone: a datastore that has an ISO takes it no second time. */
const own = (text: string): string => `${text} ${attempts}`;

const openStore = (): Promise<IsoStore> =>
  openIsoStore(
    { gateway: openGateway(vim, { tasks: 8 }, clock), http, clock, signal: never },
    { datacenter: inventory.datacenter, datastore },
  );

async function download(text: string): Promise<LocalIso> {
  await isos.setContent({ text, sizeBytes });
  const url = `${lab.handles.isos.url}/images/one?image_token=${'a'.repeat(40)}`;
  const downloaded = await source.download({ url, etag: null }, never);
  if (downloaded.kind === 'unchanged') throw new Error('nothing was downloaded');
  return downloaded.iso;
}

/** What another client finds there. */
async function shaInDatastore(path: string): Promise<string> {
  const file = join(root, 'found.iso');
  rmSync(file, { force: true });
  await govc(lab.handles.vsphere, 'datastore.download', '-ds', datastore, path, file);
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

const shaOf = (text: string): string => createHash('sha256').update(makeSmallIso(text, sizeBytes)).digest('hex');

test('what was cut on its way here is whole in the datastore', async () => {
  await isos.inject({ does: 'cut', afterBytes: 3_000_000 });
  const iso = await download(own('whole'));
  const store = await openStore();
  const path = `whole/${iso.sha256}.iso`;
  expect(iso.sha256).toBe(shaOf(own('whole')));
  expect(await store.place({ path, part: 'whole/part' }, iso)).toBe(true);
  expect(await shaInDatastore(path)).toBe(shaOf(own('whole')));
  await iso.remove();
  expect(readdirSync(join(root, 'downloads'))).toEqual([]);
});

test('what is cut on its way there is whole after the next attempt', async () => {
  const iso = await download(own('second'));
  const store = await openStore();
  const path = `second/${iso.sha256}.iso`;
  await vcenter.inject({ method: 'PUT /folder', does: 'cut' });
  await expect(store.place({ path, part: 'second/part' }, iso)).rejects.toMatchObject({ type: 'VsphereUnavailable' });
  expect(await store.place({ path, part: 'second/part' }, iso)).toBe(true);
  expect(await shaInDatastore(path)).toBe(shaOf(own('second')));
  await iso.remove();
});

test('a session that has ended is renewed, and the file sent once more', async () => {
  const iso = await download(own('third'));
  const store = await openStore();
  const path = `third/${iso.sha256}.iso`;
  await vcenter.inject({ method: 'PUT /folder', does: 'status', status: 401 });
  expect(await store.place({ path, part: 'third/part' }, iso)).toBe(true);
  expect(await shaInDatastore(path)).toBe(shaOf(own('third')));
  await iso.remove();
});

test.each([
  [403, 'VsphereNotPermitted'],
  [404, 'VsphereObjectNotFound'],
  [503, 'VsphereUnavailable'],
  [507, 'VsphereResourcesExhausted'],
])('an answer of %i is %s', async (status, type) => {
  const iso = await download(own(`status ${status}`));
  const store = await openStore();
  await vcenter.inject({ method: 'PUT /folder', does: 'status', status });
  const file = { path: `refused/${iso.sha256}.iso`, part: 'refused/part' };
  await expect(store.place(file, iso)).rejects.toMatchObject({ type });
  await iso.remove();
});
