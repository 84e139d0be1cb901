import { stubClient } from '../../test/fixtures/activities/nova.ts';
import type { AllocationCandidates, CandidatesQuery, PlacementClient } from '../placement/types.ts';
import { askPlacement, mapAtOnce } from './candidates.ts';
import { requirementsKey } from './requirements.ts';

const signal = new AbortController().signal;
const nothing: AllocationCandidates = { candidates: [], providers: {} };
const provider = (rootUuid: string, capacity: number, used: number, parentUuid: string | null = null) => ({
  resources: { MEMORY_MB: { capacity, used } },
  traits: [],
  parentUuid,
  rootUuid,
});

test('asks once per kind, and again for the least of it where there is no room', async () => {
  const asked: CandidatesQuery[] = [];
  const placement = stubClient<PlacementClient>({
    allocationCandidates: async (query) => {
      asked.push(query);
      if ((query.resources['MEMORY_MB'] ?? 0) > 10) return nothing;
      return {
        candidates: [
          { allocations: { child: { VGPU: 1 }, root: { MEMORY_MB: 1 } } },
          { allocations: { other: { MEMORY_MB: 1 }, pool: { DISK_GB: 1 } } },
        ],
        providers: {
          root: provider('root', 16, 6),
          child: provider('root', 1, 0, 'root'),
          other: provider('other', 8, 8),
          pool: provider('pool', 100, 0),
        },
      };
    },
  });
  const small = { resources: { MEMORY_MB: 5 }, required: [], forbidden: [] };
  const large = { resources: { MEMORY_MB: 50 }, required: ['CUSTOM_A'], forbidden: ['CUSTOM_B'] };
  const answers = await askPlacement(placement, [small, large, { ...small }], signal);
  expect(asked).toEqual([
    { ...small, forbidden: ['COMPUTE_STATUS_DISABLED'] },
    { ...large, forbidden: ['CUSTOM_B', 'COMPUTE_STATUS_DISABLED'] },
    { resources: { MEMORY_MB: 1 }, required: ['CUSTOM_A'], forbidden: ['CUSTOM_B', 'COMPUTE_STATUS_DISABLED'] },
  ]);
  const hosts = new Set(['root', 'other', 'pool']);
  expect(answers.get(requirementsKey(small))).toMatchObject({ roomy: hosts, suitable: hosts });
  expect(answers.get(requirementsKey(small))?.free.get('root')).toEqual({ MEMORY_MB: 10 });
  expect(answers.get(requirementsKey(large))).toMatchObject({ roomy: new Set(), suitable: hosts });
});

test('a few at a time, all of them, in order', async () => {
  let running = 0;
  let most = 0;
  const results = await mapAtOnce([5, 4, 3, 2, 1], 2, async (item) => {
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return item * 10;
  });
  expect(results).toEqual([50, 40, 30, 20, 10]);
  expect(most).toBe(2);
  await expect(mapAtOnce([1, 2], 2, async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
