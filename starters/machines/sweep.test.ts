import { exitCodeOfSweep } from './sweep.ts';

test.each<[why: string, outcome: string | null, dryRun: boolean, code: number]>([
  ['nothing is left to delete', 'reconciled', false, 0],
  ['a dry run', 'observed', true, 0],
  ['nothing was deleted, as drover only observes', 'observed', false, 1],
  ['it waits for an approval', null, false, 1],
  ['a class was not swept', 'blocked', false, 1],
])('how a sweep ends: %s', (_why, outcome, dryRun, code) => {
  expect(exitCodeOfSweep(outcome, dryRun)).toBe(code);
});
