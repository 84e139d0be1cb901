import type { Retry } from './decide-retry.ts';
import { decideRetry } from './decide-retry.ts';
import type { EvictionObject } from '../eviction/eviction-objects.ts';
import type { HypervisorObject } from '../hypervisor/hypervisor-objects.ts';
import { ago } from '../../test/fixtures/starters/progress.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';
import { lifecycle, sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';

const eviction = (reason: string, reconciled: boolean, lastTransitionTime = ago(60)): EvictionObject =>
  sampleEviction({
    conditions: [{ type: 'Evicting', status: 'False', reason, message: '', lastTransitionTime }],
    reconciled,
  });
const failed = eviction('Failed', true);
const failedLongAgo = eviction('Failed', true, ago(9_000));
const stopped = eviction('Stopped', true);
const refused = eviction('PreflightFailed', true);
const waits = eviction('AlreadyRunning', false);
const succeeded = eviction('Succeeded', true);
const hypervisor = (...condition: Parameters<typeof lifecycle>) =>
  sampleHypervisor({ conditions: [lifecycle(...condition)] });
const aborted = hypervisor('Aborted', 'False');
const testing = hypervisor('Testing', 'Unknown');
const emptying = hypervisor('Evicting', 'Unknown');
const notEmptied = hypervisor('Evicting', 'False');
const blocked = hypervisor('Ready', 'False');
const fine = hypervisor('Active');

test.each<
  [
    why: string,
    isRunning: boolean,
    eviction: EvictionObject | null,
    hypervisor: HypervisorObject | null,
    its: Retry['eviction'],
    hypervisors: Retry['hypervisor'],
    left?: RegExp,
  ]
>([
  // The Eviction alone.
  ['an eviction runs', true, waits, null, true, null],
  ['it runs, and the host waits for it', true, waits, emptying, true, null],
  ['an Eviction has no run, and the host waits for it', false, waits, emptying, true, null],
  ['an Eviction failed', false, failed, null, true, null],
  ['it failed, and the host is in service', false, failed, fine, true, null],
  ['it failed, and the host is not emptied', false, failed, notEmptied, true, null],
  ['it was refused, and the host is not emptied', false, refused, notEmptied, true, null],
  ['it was stopped, and the host is not emptied', false, stopped, notEmptied, true, null],
  ['it was done', false, succeeded, fine, true, null],
  ['drover never drove the host', false, failed, sampleHypervisor({ conditions: [] }), true, null],
  [
    'its lifecycle is off',
    false,
    failed,
    sampleHypervisor({ lifecycleEnabled: false, conditions: [lifecycle('Initial', 'False')] }),
    true,
    null,
  ],
  ['nothing is known', false, null, null, true, null],
  ['nothing is wrong', false, null, fine, true, null],
  // The Hypervisor alone.
  ['aborted', false, null, aborted, false, 'again'],
  ['aborted after an Eviction that was done', false, succeeded, aborted, false, 'again'],
  [
    'aborted after an Eviction that had failed',
    false,
    failedLongAgo,
    aborted,
    false,
    'again',
    /had ended before that/u,
  ],
  ['on its way', false, null, testing, false, 'now'],
  ['on its way after an Eviction that had failed', false, failedLongAgo, testing, false, 'now', /drover evict/u],
  ['blocked', false, null, blocked, false, 'again'],
  ['not emptied, and the Eviction was deleted', false, null, notEmptied, false, 'again'],
  ['on its way, after its Eviction was done', false, succeeded, emptying, false, 'now'],
  ['said of another spec', false, null, hypervisor('Active', 'True', 'x', 2), false, 'now'],
  // Both.
  ['aborted, and an eviction runs', true, waits, aborted, true, 'again'],
  ['aborted, and an Eviction has no run', false, waits, aborted, true, 'again'],
  ['aborted, and then an Eviction failed', false, failed, aborted, true, 'again'],
  ['blocked, and then an Eviction was stopped', false, stopped, blocked, true, 'again'],
  ['on its way, and an eviction runs', true, waits, testing, true, 'now'],
])('%s', (_why, isRunning, its, host, isEvictions, hypervisors, left: RegExp | null = null) => {
  expect(decideRetry(isRunning, its, host)).toEqual({
    eviction: isEvictions,
    hypervisor: hypervisors,
    left: left === null ? null : expect.stringMatching(left),
  });
});
