import { placesForHosts, placesForMachines, placesForVcenter } from './queues.ts';

test.each([
  [0, 20, 20],
  [6, 20, 20],
  [7, 20, 21],
  [40, 20, 120],
  [40, 200, 200],
])('%i namespaces of Machines, where the settings give %i places: %i', (count, machines, places) => {
  const namespaces = Array.from({ length: count }, (_, index) => `shoot-${index}`);
  expect(placesForMachines({ worker: { concurrency: { machines } }, machines: { namespaces } })).toBe(places);
});

test.each([
  ['nothing is watched', 'automatic', null, 50],
  ['each shard of the guest watch holds one for good', 'automatic', { shards: 100 }, 150],
  ['no node failures are handled: the watches end', 'off', { shards: 100 }, 50],
] as const)('places for hosts, where %s', (_why, mode, guestEvents, places) => {
  expect(placesForHosts({ worker: { concurrency: { hosts: 50 } }, nodeFailure: { mode, guestEvents } })).toBe(places);
});

test.each([
  [1, 2],
  [2, 2],
  [100, 100],
])('a vCenter, where the settings give %i places: %i', (vsphere, places) => {
  expect(placesForVcenter({ vsphere })).toBe(places);
});
