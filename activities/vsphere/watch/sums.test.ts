import * as fc from 'fast-check';
import { changedSince, openSums } from './sums.ts';

const textOf = (states: Readonly<Record<string, string>>): string => {
  const sums = openSums();
  for (const [vmId, digest] of Object.entries(states)) sums.set(vmId, digest);
  return sums.toText();
};

const fleet = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`vm-${index}`, `state ${index}`]));

test('nothing has changed: no VM is meant, in whatever order they were reported', () => {
  const { mayHaveChanged } = changedSince(
    textOf(fleet),
    textOf(Object.fromEntries(Object.entries(fleet).toReversed())),
  );
  expect(Object.keys(fleet).filter(mayHaveChanged)).toEqual([]);
});

test.each<[what: string, now: Readonly<Record<string, string>>]>([
  ['changed', { ...fleet, 'vm-7': 'another state' }],
  ['gone', Object.fromEntries(Object.entries(fleet).filter(([vmId]) => vmId !== 'vm-7'))],
])('one of 2,000 has %s: it is meant, and a handful besides', (_what, now) => {
  const { mayHaveChanged } = changedSince(textOf(fleet), textOf(now));
  const meant = Object.keys(fleet).filter(mayHaveChanged);
  expect(meant).toContain('vm-7');
  expect(meant.length).toBeLessThan(20);
});

test.each([null, '', 'AAAA'])('without a memory that can be read (%j) everything may have changed', (memory) => {
  const { mayHaveChanged } = changedSince(memory, textOf(fleet));
  expect(mayHaveChanged('vm-1')).toBe(true);
});

test('whatever has happened in between, only the last states count', () => {
  const states = fc.array(
    fc.tuple(fc.constantFrom('vm-1', 'vm-2', 'vm-3'), fc.option(fc.constantFrom('a', 'b'), { nil: null })),
  );
  fc.assert(
    fc.property(states, (changes) => {
      const sums = openSums();
      for (const [vmId, digest] of changes) sums.set(vmId, digest);
      const last = Object.fromEntries(changes.flatMap(([vmId, digest]) => (digest === null ? [] : [[vmId, digest]])));
      for (const [vmId, digest] of changes)
        if (
          digest === null &&
          changes.findLastIndex(([id]) => id === vmId) ===
            changes.findLastIndex(([id, state]) => id === vmId && state === null)
        )
          delete last[vmId];
      expect(sums.toText()).toBe(textOf(last));
    }),
  );
});
