import type { Ending } from '../eviction/eviction-objects.ts';
import { exitCodeOfEnding, exitCodes } from './exit-codes.ts';

test.each<[outcome: Ending['outcome'], acting: number, observing: number]>([
  ['Succeeded', exitCodes.ok, exitCodes.ok],
  ['Observed', exitCodes.failed, exitCodes.ok],
  ['NothingToDo', exitCodes.failed, exitCodes.failed],
  ['HandedOver', exitCodes.failed, exitCodes.failed],
  ['Failed', exitCodes.failed, exitCodes.failed],
  ['Stopped', exitCodes.failed, exitCodes.failed],
  ['Terminated', exitCodes.failed, exitCodes.failed],
])('%s', (outcome, acting, observing) => {
  expect(exitCodeOfEnding(outcome, { observe: false })).toBe(acting);
  expect(exitCodeOfEnding(outcome, { observe: true })).toBe(observing);
});
