import { specWith } from './ensure-image-cache.ts';

const here = { datacenterID: 'dc-1', datastoreID: 'ds-1', profileID: 'p' };
const there = { ...here, datastoreID: 'ds-2' };
const wanted = {
  name: 'vmi-1',
  providerId: 'item',
  providerVersion: '2',
  location: { datacenterId: 'dc-1', datastoreId: 'ds-1', profileId: 'p' },
};
const current = { providerID: 'item', providerVersion: '2' };

test.each([
  ['there is none', null, wanted, { ...current, locations: [here] }],
  ['it is there', { ...current, locations: [there, here] }, wanted, null],
  ['it is elsewhere', { ...current, locations: [there] }, wanted, { ...current, locations: [there, here] }],
  [
    'the item has another version',
    { ...current, providerVersion: '1', locations: [here] },
    wanted,
    { ...current, locations: [here] },
  ],
  ['the image says no version', { ...current, locations: [here] }, { ...wanted, providerVersion: null }, null],
])('%s', (_why, spec, request, after) => {
  expect(specWith(spec, request)).toEqual(after);
});
