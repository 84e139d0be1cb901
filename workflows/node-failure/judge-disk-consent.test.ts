import type { AbandonDisks } from '../../contracts/messages.ts';
import { candidate, fencingOf, incident, openedAtMs } from '../../test/fixtures/workflows/fencing.ts';
import { consentToLoss, takeServers } from './fencing-state.ts';
import { judgeDiskConsent } from './judge-disk-consent.ts';

const disk = { localDiskGiB: 5 };
const listed = takeServers(fencingOf({ forcedDown: true }), [
  candidate('a', disk),
  candidate('b', disk),
  candidate('volume'),
  candidate('amphora', { ...disk, imageTags: ['amphora'] }),
  candidate('building', { ...disk, vmState: 'building' }),
  candidate('c', { ...disk, name: 'twin' }),
  candidate('d', { ...disk, name: 'twin' }),
]);
const given = consentToLoss(listed, [{ id: 'a', person: 'joe', atMs: openedAtMs }]);

const rows: [
  what: string,
  change: Partial<AbandonDisks>,
  state: typeof listed,
  words: RegExp,
  taken: string[] | null,
][] = [
  ['by id', { instances: ['a'] }, listed, /^Taken: jane gives up the local disks of vm-a\./u, ['a']],
  ['by name', { instances: ['vm-b'] }, listed, /vm-b/u, ['b']],
  ['several', { instances: ['a', 'vm-b'] }, listed, /vm-a, vm-b/u, ['a', 'b']],
  ['another incident', { incident: 'node-1/0' }, listed, /the one at hand is node-1\/1/u, null],
  ['before they are looked up', {}, fencingOf(), /have not been looked up/u, null],
  ['another host’s', { instances: ['elsewhere'] }, listed, /elsewhere is no server of node-1/u, null],
  ['a name that two have', { instances: ['twin'] }, listed, /any of c, d/u, null],
  ['which of them, by id', { instances: ['d'] }, listed, /twin/u, ['d']],
  ['one on volumes', { instances: ['volume'] }, listed, /has no disks on the host/u, null],
  ['given up already', { instances: ['a'] }, given, /given up already/u, null],
  [
    'one whose image is excluded',
    { instances: ['amphora'] },
    listed,
    /would stay all the same: its image has the tag amphora/u,
    null,
  ],
  ['one that Nova does not evacuate', { instances: ['building'] }, listed, /state building/u, null],
  ['all or none', { instances: ['a', 'volume'] }, listed, /vm-volume has no disks/u, null],
];
test.each(rows)('%s', (_what, change, state, words, taken) => {
  const decision = judgeDiskConsent(
    { incident: incident.id, instances: ['a'], person: 'jane', ...change },
    state,
    openedAtMs + 1,
  );
  expect(decision.message).toMatch(words);
  expect(decision.taken).toEqual(taken?.map((id) => ({ id, person: 'jane', atMs: openedAtMs + 1 })) ?? null);
});
