import type { FlowTier } from '../tiers.ts';
import { simulatedSuites, suitesOf } from '../simulated-suites.ts';
import { chooseForChange, chooseForPush, chooseLeftOut, chooseParts } from './choose.ts';

const rows: Record<string, FlowTier> = {
  one: { tier: 'push', area: 'eviction', because: 'only Nova knows' },
  vms: { tier: 'push', area: 'virtualMachine', because: 'only vCenter knows' },
  nova: { tier: 'changed', area: 'openstack' },
  quick: { tier: 'simulated', area: 'eviction' },
  more: { tier: 'daily', area: 'eviction', coveredBy: ['test/simulator'] },
};

test('a push runs its own flows, and those whose area has changed', () => {
  expect(chooseForPush(rows, () => true)).toEqual({
    flows: ['one', 'vms', 'nova'],
    simulated: ['quick'],
    notes: ['left to npm run test:all: more'],
  });
  expect(chooseForPush(rows, () => false)).toEqual({
    flows: ['one', 'vms'],
    simulated: ['quick'],
    notes: ['left to npm run test:all: nova, more'],
  });
});

test('a change runs the flows of its areas, and those that it reaches by imports', () => {
  const evictions = ({ area }: FlowTier): boolean => area === 'eviction';
  expect(chooseForChange(rows, { hasChanged: evictions, isConcerned: () => false })).toEqual({
    flows: ['one'],
    simulated: ['quick'],
    notes: ['concerned too, and left to npm run test:all: more'],
  });
  // One that is changed itself shows what it is worth on real parts too.
  expect(chooseForChange(rows, { hasChanged: () => false, isConcerned: (name) => name === 'quick' })).toEqual({
    flows: ['quick'],
    simulated: ['quick'],
    notes: [],
  });
  expect(chooseForChange(rows, { hasChanged: () => false, isConcerned: (name) => name === 'more' })).toEqual({
    flows: ['more'],
    simulated: [],
    notes: [],
  });
});

test('of what the simulator has passed with the very sources a twentieth is run, and the reason is said', () => {
  const { passed, notes } = chooseParts((name) =>
    name === 'clones'
      ? { state: 'fresh', why: 'the record of today' }
      : { state: name === 'machines' ? 'failed' : 'stale', why: 'its sources have changed since' },
  );
  expect(passed).toEqual(['clones']);
  expect(notes).toContain('simulated, a twentieth: clones, which passed with these sources: the record of today');
  expect(notes).toContain('simulated, all of it: machines: failed: its sources have changed since');
  expect(chooseParts(() => ({ state: 'incomplete', why: 'a part is missing' })).passed).toEqual([]);
  expect(chooseParts(() => ({ state: 'none', why: 'there is no record' })).passed).toEqual([]);
});

test('suites that have passed with these very sources are left out, but for a twentieth that the seed decides', () => {
  expect(chooseLeftOut(() => false, 1)).toEqual([]);
  const ofPools = suitesOf('agentPools');
  const leftOut = chooseLeftOut((group) => group === 'agentPools', 1);
  expect(leftOut).toHaveLength(ofPools.length - 1);
  expect(ofPools).toEqual(expect.arrayContaining(leftOut));
  const all = Object.keys(simulatedSuites);
  const runAgain = (seed: number): string[] => {
    const left = chooseLeftOut(() => true, seed);
    return all.filter((file) => !left.includes(file));
  };
  expect(runAgain(1)).toHaveLength(Math.ceil(all.length / 20));
  expect(new Set([1, 2, 3, 4].map((seed) => runAgain(seed).join())).size).toBeGreaterThan(1);
});
