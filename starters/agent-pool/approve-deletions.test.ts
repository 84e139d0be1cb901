import { samplePool } from '../../test/fixtures/starters/agent-pool.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { allApproved, approvalsOf, chooseApproved } from './approve-deletions.ts';

const held = (name: string, waitsFor = 'ApprovalRequired') => ({ name, waitsFor, message: 'x' });
const pool = samplePool({ held: [held('worker-7'), held('worker-8', 'NodePresent'), held('worker-9')] });

test.each<[why: string, names: string[], chosen: string[]]>([
  ['all that wait for one', [], ['worker-7', 'worker-9']],
  ['one of them', ['worker-9'], ['worker-9']],
  ['one of them, twice', ['worker-9', 'worker-9'], ['worker-9']],
])('an approval of %s', (_why, names, chosen) => {
  expect(chooseApproved(pool, names)).toEqual(chosen);
});

test('what waits for something else, or nothing, is not approved', () => {
  for (const name of ['worker-8', 'worker-10', 'web\u001b[2J'])
    expect(() => chooseApproved(pool, ['worker-7', name])).toThrow(
      expect.objectContaining({ exitCode: exitCodes.notFound, advice: 'They are: worker-7, worker-9.' }),
    );
  for (const names of [[], ['worker-7']])
    expect(() => chooseApproved(samplePool(), names)).toThrow(
      expect.objectContaining({
        exitCode: exitCodes.refused,
        message: expect.stringContaining('Nothing was approved'),
      }),
    );
});

test('an approval is of one VsphereAgent, or of one VM that has none, and not of a name', () => {
  const message = 'VM worker-7 has no VsphereAgent: annotate VsphereAgentPool gpu with x, a list with worker-7/u-stray';
  const withStray = samplePool({ held: [{ ...held('worker-7'), message }, held('worker-9')] });
  const there = [
    { name: 'worker-7', uid: 'u-7' },
    { name: 'worker-9', uid: 'u-9' },
  ];
  expect(approvalsOf(withStray, ['worker-7', 'worker-9'], there)).toEqual(['worker-7/u-stray', 'worker-9/u-9']);
});

test('an approval that names no VM is refused', () => {
  const there = [{ name: 'worker-7', uid: 'u-7' }];
  expect(() => approvalsOf(pool, ['worker-7', 'worker-9'], there)).toThrow(
    expect.objectContaining({
      exitCode: exitCodes.refused,
      message: expect.stringMatching(/worker-9 is not there.* Nothing was approved/u),
    }),
  );
});

test('earlier approvals stay while their VsphereAgents do', () => {
  const there = [
    { name: 'worker-1', uid: 'u-1' },
    { name: 'worker-7', uid: 'u-7' },
  ];
  expect(
    allApproved(['gone/u-0', 'worker-1/u-1', 'worker-1/u-before', 'worker-7/u-7'], ['worker-7/u-7'], there),
  ).toEqual(['worker-1/u-1', 'worker-7/u-7']);
  expect(allApproved([], ['worker-7/u-7'], [])).toEqual(['worker-7/u-7']);
});
