import { allocationOf, countsCores, isAllocated } from './allocation.ts';

const wanted = { reservationCores: 1.5, limitCores: 4, reservationMiB: 1_024, limitMiB: null };
const properties = (cpu: object | undefined, memory: object | undefined): Record<string, unknown> => ({
  'config.cpuAllocation': cpu,
  'config.memoryAllocation': memory,
});

test('cores become MHz of the slowest host, and no limit is -1', () => {
  const { cpuAllocation, memoryAllocation } = allocationOf(wanted, 2_294);
  expect(cpuAllocation).toMatchObject({ reservation: 3_441, limit: 9_176, expandableReservation: true });
  expect(memoryAllocation).toMatchObject({ reservation: 1_024, limit: -1 });
});

test('a limit or a reservation of cores is counted by the speed of hosts', () => {
  expect(countsCores(wanted)).toBe(true);
  expect(countsCores({ ...wanted, reservationCores: 0 })).toBe(true);
  expect(countsCores({ ...wanted, limitCores: null })).toBe(true);
  expect(countsCores({ ...wanted, reservationCores: 0, limitCores: null })).toBe(false);
});

test.each([
  ['the same', { reservation: 3_000, limit: 8_000 }, { reservation: 1_024, limit: -1 }, true],
  ['another reservation', { reservation: 0, limit: 8_000 }, { reservation: 1_024, limit: -1 }, false],
  ['another limit', { reservation: 3_000, limit: -1 }, { reservation: 1_024, limit: -1 }, false],
  ['other memory', { reservation: 3_000, limit: 8_000 }, { reservation: 1_024, limit: 2_048 }, false],
  ['nothing that can be read', undefined, undefined, false],
])('%s is as wanted: %4$p', (_, cpu, memory, isWanted) => {
  expect(isAllocated(properties(cpu, memory), allocationOf(wanted, 2_000))).toBe(isWanted);
});
