import type { CellResult } from './run-cell.ts';
import { joinAttempts } from './run-cell.ts';

const cell = { step: 'A/publishEviction.9' };
const missed = 'A/publishEviction.9 never came, so nothing was injected; there were A/publishEviction.1';
const attempt = (injected: boolean, ...complaints: string[]): CellResult => ({
  complaints,
  injected,
  seconds: 1,
  steps: [],
});

test.each<[what: string, attempts: CellResult[], complaints: string[], injected: boolean]>([
  ['one that passes', [attempt(true)], [], true],
  ['the step came at the second attempt', [attempt(false, missed), attempt(true)], [], true],
  [
    'an attempt without the step breaks something',
    [attempt(false, missed, 'invariant 5: not empty'), attempt(true)],
    ['attempt 1, without the step: invariant 5: not empty'],
    true,
  ],
  [
    'so does the second, and the step never comes',
    [attempt(false, missed), attempt(false, 'not cleared up: 409', missed), attempt(false, missed)],
    ['attempt 2, without the step: not cleared up: 409', missed],
    false,
  ],
])('attempts of a cell: %s', (_, attempts, complaints, injected) => {
  expect(joinAttempts(cell, attempts)).toEqual({ complaints, injected, seconds: 1 });
});
