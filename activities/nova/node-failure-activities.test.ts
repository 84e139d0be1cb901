import type { InstanceDetail } from './types.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { instanceDetail, testClock, testScope } from '../../test/fixtures/activities/nova.ts';
import { createNodeFailureRegionActivities, tagsOf, toCandidate } from './node-failure-activities.ts';

const server = {
  id: 'a',
  name: 'vm',
  vmState: 'active',
  memoryMiB: 512,
  localDiskGiB: 20,
  metadata: { 'drover:priority': '900', secret: 'hunter2' },
  imageId: 'image',
  taskState: null,
} as unknown as InstanceDetail;
const groups = [
  { id: 'g', name: 'g', policy: 'anti-affinity', maxServersPerHost: 1, members: ['a', 'b'] },
  { id: 'h', name: 'h', policy: 'affinity', maxServersPerHost: 1, members: ['b'] },
];

test('of a server’s metadata only what decides goes into the history', () => {
  expect(toCandidate(server, groups, true, ['drover:priority', 'HA_Enabled'])).toEqual({
    id: 'a',
    name: 'vm',
    vmState: 'active',
    memoryMiB: 512,
    localDiskGiB: 20,
    metadata: { 'drover:priority': '900' },
    imageId: 'image',
    serverGroups: ['g'],
  });
});

test('disks that outlive the host are not lost with it', () => {
  expect(toCandidate(server, [], false, [])).toMatchObject({ localDiskGiB: 0, serverGroups: [] });
});

const known = new Map([['amphora-image', ['amphora']]]);
const tagRows: [
  why: string,
  imageId: string | null,
  tags: ReadonlyMap<string, string[]> | null,
  found: string[] | null,
][] = [
  ['an image with tags', 'amphora-image', known, ['amphora']],
  ['an image that is gone, or that drover may not see', 'gone', known, []],
  ['a server of a volume', null, known, []],
  ['a server of a volume, and a silent Glance', null, null, []],
  ['a silent Glance', 'amphora-image', null, null],
];
test.each(tagRows)('the tags of %s', (_why, imageId, tags, found) => {
  expect(tagsOf({ imageId }, tags)).toEqual(found);
});

/** The listing on a Glance that fails so many times first. */
async function listWith(failures: number, code: 'GlanceUnavailable' | 'NotPermitted' = 'GlanceUnavailable') {
  const warnings: string[] = [];
  let asked = 0;
  const deps = {
    nova: {
      servers: () =>
        Promise.resolve([
          instanceDetail({ id: 'a', imageId: 'amphora-image' }),
          instanceDetail({ id: 'b', imageId: null }),
        ]),
      serverGroups: () => Promise.resolve([]),
    },
    images: {
      tagsOf: () => {
        asked += 1;
        return asked > failures ? Promise.resolve(known) : Promise.reject(droverFailure(code, 'it is away'));
      },
    },
    localDisks: false,
    clock: testClock(),
    scope: () => ({ ...testScope(), warn: (message: string) => void warnings.push(message) }),
  } as unknown as Parameters<typeof createNodeFailureRegionActivities>[0];
  const activities = createNodeFailureRegionActivities(deps);
  const servers = await activities.listEvacuationCandidates({ host: 'node-1', metadataKeys: [] });
  return { tags: servers.map(({ imageTags }) => imageTags), asked, warnings };
}

test('the tags of the servers’ images are Glance’s; one that does not answer is asked again, and at last delays no evacuation', async () => {
  expect(await listWith(0)).toEqual({ tags: [['amphora'], []], asked: 1, warnings: [] });
  expect(await listWith(2)).toEqual({ tags: [['amphora'], []], asked: 3, warnings: [] });
  expect(await listWith(3)).toEqual({ tags: [null, []], asked: 3, warnings: [expect.stringContaining('it is away')] });
  expect(await listWith(3, 'NotPermitted')).toMatchObject({ tags: [null, []], asked: 1 });
});
