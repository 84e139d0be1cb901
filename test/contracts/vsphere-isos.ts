import { Readable } from 'node:stream';

import { type IsoStore, openIsoStore } from '../../activities/agents/iso/iso-store.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { failureOf, never, openSuite, type VsphereCounterpart } from './vsphere-context.ts';

/** Files of a datastore: whether one is there, how it is put there, and how it goes. */
export function vsphereIsosContract(open: () => Promise<VsphereCounterpart>): void {
  const { context, gateway, test } = openSuite(open);
  const datastore = 'LocalDS_0';
  const bytes = Buffer.alloc(300_000, 'iso');
  const content = { sizeBytes: bytes.length, open: () => Readable.from([bytes]) };
  const openStore = (signal = never): Promise<IsoStore> =>
    openIsoStore(
      { gateway, http: context.datastoreHttp, clock: context.clock, signal },
      { datacenter: inventory.datacenter, datastore },
    );
  const filesOf = async (path: string): Promise<string[]> =>
    (await context.witness.listFiles({ datastore, path })).toSorted();
  const uploads = async (): Promise<number> => (await context.requests('PUT /folder')).length;

  test('one that is put there is there, with its size; what is not there is not', async () => {
    const store = await openStore();
    expect(await store.find('isos/team/a.iso')).toBeNull();
    expect(await store.place({ path: 'isos/team/a.iso', part: 'isos/team/a.part' }, content)).toBe(true);
    expect(await store.find('isos/team/a.iso')).toBe(bytes.length);
    expect(await store.find('isos/team/b.iso')).toBeNull();
    expect(await filesOf('isos/team')).toEqual(['a.iso']);
    expect(store.nameOf('isos/team/a.iso')).toBe('[LocalDS_0] isos/team/a.iso');
  });

  test('one that is there already is not put there again', async () => {
    const store = await openStore();
    await store.place({ path: 'once/a.iso', part: 'once/a.part' }, content);
    expect(await store.place({ path: 'once/a.iso', part: 'once/b.part' }, content)).toBe(false);
    expect(await uploads()).toBe(1);
  });

  test('two at once: one file is there afterwards, and nothing else', async () => {
    const stores = await Promise.all([openStore(), openStore()]);
    const placed = await Promise.all(
      stores.map((store, index) => store.place({ path: 'race/a.iso', part: `race/a.${index}.part` }, content)),
    );
    expect(placed.filter((isFirst) => isFirst)).toHaveLength(1);
    expect(await filesOf('race')).toEqual(['a.iso']);
  });

  test('one that is cut has not its name, and the next attempt writes over it', async () => {
    const store = await openStore();
    await context.control.inject({ method: 'PUT /folder', does: 'cut' });
    const file = { path: 'cut/a.iso', part: 'cut/a.part' };
    expect(await failureOf(store.place(file, content))).toMatchObject({ type: 'VsphereUnavailable' });
    expect(await store.find('cut/a.iso')).toBeNull();
    expect(await filesOf('cut')).toEqual(['a.part']);
    expect(await store.place(file, content)).toBe(true);
    expect(await filesOf('cut')).toEqual(['a.iso']);
    expect(await store.find('cut/a.iso')).toBe(bytes.length);
  });

  test('one whose answer is lost is put there by the next attempt', async () => {
    const store = await openStore();
    await context.control.inject({ method: 'PUT /folder', does: 'cut', after: true });
    const file = { path: 'lost/a.iso', part: 'lost/a.part' };
    expect(await failureOf(store.place(file, content))).toMatchObject({ type: 'VsphereUnavailable' });
    expect(await store.place(file, content)).toBe(true);
    expect(await filesOf('lost')).toEqual(['a.iso']);
  });

  test('another file under the name of an ISO is not taken for it, and not written over', async () => {
    const store = await openStore();
    await store.place({ path: 'other/a.iso', part: 'other/a.part' }, content);
    const longer = { ...content, sizeBytes: bytes.length + 1 };
    expect(await failureOf(store.place({ path: 'other/a.iso', part: 'other/b.part' }, longer))).toMatchObject({
      type: 'IsoRefused',
      message: expect.stringContaining('remove it'),
    });
    expect(await store.find('other/a.iso')).toBe(bytes.length);
  });

  test('one that goes is gone; one that is gone is well', async () => {
    const store = await openStore();
    await store.place({ path: 'gone/a.iso', part: 'gone/a.part' }, content);
    await store.remove('gone/a.iso');
    expect(await store.find('gone/a.iso')).toBeNull();
    await store.remove('gone/a.iso');
    await store.remove('never/a.iso');
  });

  test('one that vCenter does not remove is a failure', async () => {
    const store = await openStore();
    await store.place({ path: 'held/a.iso', part: 'held/a.part' }, content);
    await context.control.fail({ method: 'DeleteDatastoreFile_Task', fault: 'FileLocked', inTask: true });
    expect(await failureOf(store.remove('held/a.iso'))).toBeInstanceOf(Error);
    expect(await store.find('held/a.iso')).toBe(bytes.length);
  });

  test('a datacenter or a datastore that is not there is a failure', async () => {
    for (const place of [
      { datacenter: 'DC9', datastore },
      { datacenter: inventory.datacenter, datastore: 'LocalDS_9' },
    ])
      expect(
        await failureOf(
          openIsoStore({ gateway, http: context.datastoreHttp, clock: context.clock, signal: never }, place),
        ),
      ).toMatchObject({ type: 'VsphereObjectNotFound' });
  });
}
