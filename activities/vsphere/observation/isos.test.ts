import { pathInDatastore } from './isos.ts';

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
