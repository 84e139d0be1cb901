import type { Fetched, ObservedImageCache } from '../../../contracts/virtual-machine/observation.ts';
import { judgeImageCache } from './cached-files.ts';

const place = { datacenterId: 'dc', datastoreId: 'ds', profileId: 'p' };
const cache = (hardwareReady: boolean, ready?: boolean | null): Fetched<ObservedImageCache> => ({
  kind: 'found',
  value: {
    hardwareReady,
    silentSinceMs: null,
    locations: ready === undefined ? [] : [{ ...place, ready, files: [], message: 'copying' }],
  },
});

const rows: [
  why: string,
  name: string | null,
  location: string | null,
  fetched: Fetched<ObservedImageCache> | null,
  is: string,
][] = [
  ['HasLabel No: ready, no cache is needed', null, null, null, 'ready'],
  ['CacheExists No: not ready', 'vmi', 'dc,ds,p', { kind: 'notFound', message: 'gone' }, 'notReady'],
  ['it was not read: not ready', 'vmi', 'dc,ds,p', null, 'notReady'],
  ['CheckOVF No: the hardware is not known', 'vmi', 'dc,ds,p', cache(false, true), 'notReady'],
  ['HasLocation No: the label goes, ready', 'vmi', null, cache(true), 'ready label'],
  ['FindLocation: none matches, not ready', 'vmi', 'dc,other,p', cache(true, true), 'notReady'],
  ['FindLocation: it is not cached yet', 'vmi', 'dc,ds,p', cache(true, null), 'notReady'],
  ['LocationReady No: not ready', 'vmi', 'dc,ds,p', cache(true, false), 'notReady'],
  ['LocationReady Yes: label and annotation go, ready', 'vmi', 'dc,ds,p', cache(true, true), 'ready label location'],
  [
    'a place as older releases wrote it is dropped, and is not ready',
    'vmi',
    'dc,ds',
    cache(true, true),
    'notReady label location',
  ],
];

test.each(rows)('VMI Cache Readiness: %s', (_why, name, location, fetched, is) => {
  const judged = judgeImageCache({ imageCache: { name, location } }, fetched);
  expect([judged.kind, ...judged.drop].join(' ')).toBe(is);
});
