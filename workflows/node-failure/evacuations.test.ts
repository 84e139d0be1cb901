import type { Instance } from '../../contracts/eviction/instance.ts';
import type { EvacuationCandidate, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import { candidate } from '../../test/fixtures/workflows/fencing.ts';
import { evacuationOutcome, pickEvacuations, whyLeft } from './evacuations.ts';

const { exclusions } = fencingDefaults;

const servers: [what: string, change: Partial<EvacuationCandidate>, why: RegExp | null][] = [
  ['on a volume', {}, null],
  ['stopped', { vmState: 'stopped' }, null],
  ['in error', { vmState: 'error' }, null],
  ['paused', { vmState: 'paused' }, /state paused/],
  ['being built', { vmState: 'building' }, /state building/],
  ['a local disk', { localDiskGiB: 20 }, /20 GiB of its disks lie on the host and would be lost/],
  ['a local disk of no known size', { localDiskGiB: Number.NaN }, /lie on the host/],
  ['an amphora of Octavia', { imageTags: ['amphora'] }, /the tag amphora/],
  ['another tag', { imageTags: ['ubuntu'] }, null],
  ['tags that could not be read', { imageTags: null }, null],
  ['no image', { imageId: null }, null],
  ['an image that is excluded', { imageId: 'excluded' }, /its image excluded/],
  ['Masakari’s mark', { metadata: { HA_Enabled: 'False' } }, /HA_Enabled=false/],
  ['Masakari’s other mark', { metadata: { HA_Enabled: 'True' } }, null],
  ['drover’s mark', { metadata: { 'drover:evacuate': 'false' } }, /drover:evacuate=false/],
  ['a key alone', { metadata: { cattle: '' } }, /has cattle/],
  ['a key of all objects', { metadata: {} }, null],
];
test.each(servers)('%s', (_what, change, why) => {
  const found = whyLeft(
    candidate('a', change),
    {
      imageIds: ['excluded'],
      imageTags: exclusions.imageTags,
      metadata: [...exclusions.metadata, 'cattle', 'constructor'],
    },
    [],
  );
  if (why === null) expect(found).toBeNull();
  else expect(found).toMatch(why);
});

test('a local disk is given up server by server, and nothing else with it', () => {
  const local = candidate('a', { localDiskGiB: 20 });
  expect(whyLeft(local, exclusions, [{ id: 'a' }])).toBeNull();
  expect(whyLeft(local, exclusions, [{ id: 'b' }])).not.toBeNull();
  expect(whyLeft({ ...local, imageTags: ['amphora'] }, exclusions, [{ id: 'a' }])).toMatch(/amphora/);
});

const tracked = (id: string, change: Partial<TrackedEvacuation> = {}): TrackedEvacuation => ({
  ...candidate(id),
  state: 'pending',
  attempts: 0,
  why: null,
  retryAtMs: null,
  ...change,
});
const orders: [what: string, all: TrackedEvacuation[], parallelism: number, picked: string[]][] = [
  [
    'the highest priority first',
    [
      tracked('a'),
      tracked('b', { metadata: { 'drover:priority': '900' } }),
      tracked('c', { metadata: { 'drover:priority': '10' } }),
    ],
    9,
    ['b', 'a', 'c'],
  ],
  [
    'priorities that are none are as usual',
    [
      tracked('a', { metadata: { 'drover:priority': '0' } }),
      tracked('b', { metadata: { 'drover:priority': '501' } }),
      tracked('c', { metadata: { 'drover:priority': 'high' } }),
      tracked('d', { metadata: { 'drover:priority': '1001' } }),
    ],
    9,
    ['b', 'a', 'c', 'd'],
  ],
  [
    'those that ran before those that were stopped',
    [tracked('a', { vmState: 'stopped' }), tracked('b')],
    9,
    ['b', 'a'],
  ],
  ['large ones before small ones', [tracked('a'), tracked('b', { memoryMiB: 1024 })], 9, ['b', 'a']],
  [
    'one that failed lets the others pass',
    [tracked('a', { attempts: 1, metadata: { 'drover:priority': '900' } }), tracked('b')],
    9,
    ['b', 'a'],
  ],
  [
    'one that waits for its next attempt lets them go alone',
    [tracked('a', { attempts: 1, retryAtMs: 1 }), tracked('b')],
    9,
    ['b'],
  ],
  ['when its time has come it goes', [tracked('a', { attempts: 1, retryAtMs: 0 })], 9, ['a']],
  ['not more than may go at once', [tracked('a', { state: 'evacuating' }), tracked('b'), tracked('c')], 2, ['b']],
  ['none where all slots are taken', [tracked('a', { state: 'evacuating' }), tracked('b')], 1, []],
  [
    'of a server group one at a time',
    [tracked('a', { serverGroups: ['g'] }), tracked('b', { serverGroups: ['g'] }), tracked('c')],
    9,
    ['a', 'c'],
  ],
  [
    'and none while one of it goes',
    [tracked('a', { state: 'evacuating', serverGroups: ['g'] }), tracked('b', { serverGroups: ['g'] })],
    9,
    [],
  ],
  [
    'only those that wait',
    [tracked('a', { state: 'left' }), tracked('b', { state: 'evacuated' }), tracked('c', { state: 'gone' })],
    9,
    [],
  ],
];
test.each(orders)('%s', (_what, all, parallelism, picked) => {
  expect(pickEvacuations(all, parallelism, 0).map(({ id }) => id)).toEqual(picked);
});

const instance = (change: Partial<Instance>): Instance => ({
  id: 'a',
  name: 'a',
  status: 'ACTIVE',
  taskState: null,
  vmState: 'active',
  host: 'node-1',
  locked: false,
  memoryMiB: 1,
  vcpus: 1,
  localDiskGiB: 0,
  serverGroups: [],
  fault: null,
  ...change,
});

const outcomes: [why: string, found: Instance | null, outcome: object][] = [
  ['it was deleted meanwhile', null, { outcome: 'gone', why: null }],
  ['it came up elsewhere', instance({ host: 'node-2' }), { outcome: 'evacuated', why: null }],
  ['it is still there', instance({}), { outcome: 'failed', why: 'Nova’s message' }],
  ['it is on no host', instance({ host: null }), { outcome: 'failed', why: 'Nova’s message' }],
  [
    'it is on its way',
    instance({ host: 'node-2', taskState: 'rebuilding' }),
    { outcome: 'failed', why: 'Nova’s message; Nova is still at it (rebuilding)' },
  ],
];
test.each(outcomes)('%s', (_why, found, outcome) => {
  expect(evacuationOutcome({ instance: found, migration: null }, 'node-1', 'Nova’s message')).toEqual(outcome);
});
