import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { listRuns, mostRuns } from './runs.ts';

const listOf = (count: number) => {
  async function* list() {
    for (let index = 0; index < count; index += 1)
      yield {
        workflowId: `eviction/node-${String(index)}`,
        runId: String(index),
        status: { name: 'COMPLETED' },
        startTime: new Date(index),
        closeTime: new Date(index),
        typedSearchAttributes: { get: () => undefined },
      };
  }
  return listRuns(temporalAccessTo({ workflow: { list } }), 0);
};

test.each([
  [mostRuns, mostRuns, false],
  [mostRuns + 1, mostRuns, true],
  [0, 0, false],
])('of %i runs %i are listed; that there are more is said: %p', async (count, listed, isCut) => {
  const { runs, ...said } = await listOf(count);
  expect([runs.length, said]).toEqual([listed, { isCut }]);
});
