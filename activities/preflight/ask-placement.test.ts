import { stubClient, testClock } from '../../test/fixtures/activities/nova.ts';
import type { AllocationCandidates, CandidatesQuery, PlacementClient } from '../placement/types.ts';
import { createCandidateReads } from './ask-placement.ts';
import { requirementsKey } from './scheduler-rules.ts';

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
  const reads = createCandidateReads(placement, testClock());
  const [answers] = await Promise.all([
    reads.read([small, large, { ...small }], 5_000, signal),
    reads.read([{ ...large }], 5_000, signal),
  ]);
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
