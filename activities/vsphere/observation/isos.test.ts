import { droverFailure } from '../../../runtime/failure.ts';
import type { VcenterRest } from '../rest/client.ts';
import { testClock } from '../../../test/fixtures/activities/nova.ts';
import { isoPaths, openIsos, pathInDatastore } from './isos.ts';

const url = 'ds:///vmfs/volumes/5f1b-7a/';
const rows: [what: string, uri: string, url: string, path: string | null][] = [
  ['with the server that it belongs to', `${url}contentlib-1/2/a.iso?serverId=3`, url, 'contentlib-1/2/a.iso'],
  ['without', `${url}contentlib-1/2/a.iso`, url, 'contentlib-1/2/a.iso'],
  ['of a datastore whose URL ends without a slash', '/vmfs/a/contentlib-1/a.iso', '/vmfs/a', 'contentlib-1/a.iso'],
  ['with a blank', `${url}contentlib-1/a%20b.iso`, url, 'contentlib-1/a b.iso'],
  ['with a percent sign', `${url}contentlib-1/100%.iso`, url, 'contentlib-1/100%.iso'],
  ['of a datastore whose name begins alike', '/vmfs/ab/contentlib-1/a.iso', '/vmfs/a', null],
  ['of another datastore', 'ds:///vmfs/volumes/6/contentlib-1/a.iso', url, null],
  ['of no file', url, url, null],
];
test.each(rows)('a file %s', (_, uri, of, path) => expect(pathInDatastore(uri, of)).toBe(path));

const never = new AbortController().signal;
/** The files of items, by the item's id; an error: what the content library says instead. */
const pathsOf = (items: Record<string, object[] | Error>, asked: Record<string, string | null>, signal = never) => {
  const call = ({ query }: { query?: Record<string, string> }) => {
    const found = items[query?.['library_item_id'] ?? ''] ?? droverFailure('VsphereObjectNotFound', 'gone');
    return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
  };
  const rest = { vcenter: 'vc', call, close: () => Promise.resolve() } as unknown as VcenterRest;
  const datastore = { properties: { name: 'fast', 'summary.url': url } };
  const tools = { gateway: { retrieve: () => Promise.resolve([datastore]) }, scope: { signal }, clock: testClock() };
  return isoPaths(tools as never, openIsos(rest, { monotonicMs: () => 0 }), asked);
};
const file = (name: string, uri: string) => [
  { name, storage_backing: { datastore_id: 'datastore-1' }, storage_uris: [uri] },
];

test('a drive without an ISO is told with the reason', async () => {
  const items = {
    iso: file('a.iso', `${url}contentlib-1/a.iso`),
    ovf: file('a.ovf', `${url}contentlib-1/a.ovf`),
    elsewhere: file('a.iso', 'ds:///vmfs/volumes/vsan:6/a.iso'),
  };
  expect(
    await pathsOf(items, { cd: 'iso', path: '[ds] b.iso', unready: null, ovf: 'ovf', gone: 'x', vsan: 'elsewhere' }),
  ).toEqual({
    isos: { cd: '[fast] contentlib-1/a.iso', path: '[ds] b.iso', unready: null, ovf: null, gone: null, vsan: null },
    lackingIsos: {
      ovf: { reason: 'NotReady', message: expect.stringContaining('has no ISO') },
      gone: { reason: 'NotFound', message: expect.stringContaining('no item x') },
      vsan: { reason: 'NotReady', message: expect.stringContaining('no path in a datastore') },
    },
  });
  expect(await pathsOf(items, { cd: 'iso' })).toEqual({ isos: { cd: '[fast] contentlib-1/a.iso' } });
});

test('a content library that fails is told of each drive, and keeps nothing else from being observed', async () => {
  const items = {
    iso: file('a.iso', `${url}contentlib-1/a.iso`),
    down: droverFailure('VsphereUnavailable', '503'),
    refused: droverFailure('VsphereNotPermitted', '403'),
    defect: new TypeError('a defect'),
  };
  expect(await pathsOf(items, { cd: 'iso', down: 'down', refused: 'refused' })).toEqual({
    isos: { cd: '[fast] contentlib-1/a.iso', down: null, refused: null },
    lackingIsos: {
      down: { reason: 'VsphereUnavailable', message: expect.stringContaining('503'), mayPass: true },
      refused: { reason: 'VsphereNotPermitted', message: expect.stringContaining('403') },
    },
  });
  await expect(pathsOf(items, { cd: 'defect' })).rejects.toThrow('a defect');
  const aborted = AbortSignal.abort(new Error('cancelled'));
  await expect(pathsOf(items, { cd: 'down' }, aborted)).rejects.toThrow('cancelled');
});
