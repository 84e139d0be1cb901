import { samplePool } from '../../test/fixtures/starters/agent-pool.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { allApproved, approvalsOf, chooseApproved, straysOf } from './approve-deletions.ts';

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

/** A VM with the mark of the pool, and no VsphereAgent. */
const stray = (name: string, waitsFor = 'ApprovalRequired') => ({
  ...held(name, waitsFor),
  message: `VM ${name} has no VsphereAgent: annotate VsphereAgentPool gpu with x, a list with ${name}/u-stray`,
});

test('a VM without a VsphereAgent, which may be in use, is approved by its name alone', () => {
  const both = samplePool({ held: [stray('worker-7'), held('worker-9')] });
  expect(chooseApproved(both, [])).toEqual(['worker-9']);
  expect(chooseApproved(both, ['worker-7'])).toEqual(['worker-7']);
  expect(() => chooseApproved(samplePool({ held: [stray('worker-7'), stray('worker-8')] }), [])).toThrow(
    expect.objectContaining({
      exitCode: exitCodes.refused,
      message: expect.stringMatching(/Only VMs without a VsphereAgent .*: worker-7, worker-8\. Nothing was approved/u),
    }),
  );
});

test('the name of a VsphereAgent that waits is of no VM of its name without one', () => {
  const there = [{ name: 'worker-7', uid: 'u-7' }];
  const both = samplePool({ held: [stray('worker-7'), held('worker-7')] });
  expect(approvalsOf(both, chooseApproved(both, []), there)).toEqual(['worker-7/u-7']);
  expect(approvalsOf(both, ['worker-7'], there)).toEqual(['worker-7/u-7']);
});

test('an approval of a VM without a VsphereAgent stays while the pool holds it', () => {
  const strays = straysOf({ held: [stray('worker-7'), stray('worker-8', 'StrayAge'), held('worker-9')] });
  expect(allApproved(['worker-7/u-stray', 'gone/u-0'], ['worker-9/u-9'], strays)).toEqual([
    'worker-7/u-stray',
    'worker-9/u-9',
  ]);
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
