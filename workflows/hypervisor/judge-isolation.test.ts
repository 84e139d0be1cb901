import { isolationProblem } from './judge-isolation.ts';
import { aggregate } from '../../test/fixtures/workflows/hypervisor.ts';

const rows: [why: string, metadata: Record<string, string>, isProblem: boolean][] = [
  ['one project', { filter_tenant_id: 'p' }, false],
  ['several keys', { filter_tenant_id_2: 'p' }, false],
  ['none', {}, true],
  ['another filter', { ssd: 'true' }, true],
  ['a key without a project', { filter_tenant_id: ' ' }, true],
];
test.each(rows)('%s', (_why, metadata, isProblem) => {
  expect(isolationProblem([aggregate('other', true), aggregate('tests', true, metadata)], 'tests')).toEqual(
    isProblem ? expect.stringMatching(/tests keeps nobody off.*filter_tenant_id/u) : null,
  );
});

test('one that is not there is said to be missing elsewhere', () => {
  expect(isolationProblem([], 'tests')).toBeNull();
});
