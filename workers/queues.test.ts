import { placesForMachines } from './queues.ts';

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
