import type { CheckFindings } from '../../contracts/hypervisor/activities.ts';
import {
  beginMs,
  contextOf,
  minute,
  nodeOf,
  observedOf,
  onboarding,
  ownEvictionOf,
  providerOf,
} from '../../test/fixtures/workflows/hypervisor.ts';
import { applyFailure, clockRegistration, emptyMemory, prune, recordChecks, resetFailures } from './memory.ts';
import type { HypervisorStep } from './types.ts';

const found = (check: CheckFindings['check']): CheckFindings => ({ check, results: [], libVirtVersion: null });
const run = (...checks: [check: CheckFindings['check'], attempt: number][]) =>
  ({
    kind: 'runChecks',
    checks: checks.map(([check, attempt]) => ({ check, attempt })),
    sinceMs: 7,
    summary: 'Check',
    phase: 'Testing',
  }) as const;

test('a later attempt takes the place of the earlier one, and leaves the other checks', () => {
  const first = recordChecks(emptyMemory, run(['libvirt', 1], ['ovs', 1]), [found('libvirt'), found('ovs')], 1);
  expect(recordChecks(first, run(['libvirt', 2]), [found('libvirt')], 3).tests).toEqual([
    { ...found('ovs'), attempts: 1, atMs: 1, sinceMs: 7 },
    { ...found('libvirt'), attempts: 2, atMs: 3, sinceMs: 7 },
  ]);
});

const step: HypervisorStep = { kind: 'taintNode', node: 'node-1', summary: 'Taint it', phase: 'Testing' };
const refused = { code: 'InvalidConfiguration', reason: 'InvalidConfiguration', message: 'no section' } as const;
const passing = { code: 'NovaUnavailable', reason: 'NovaUnavailable', message: 'Nova is away' } as const;
const stopped = { code: 'Stopped', reason: 'Stopped', message: 'Everything was stopped' } as const;
const unknown = { code: null, reason: 'TimedOut', message: 'No answer' } as const;

test.each([
  ['what cannot mend itself ends an onboarding', { ...step, onboards: true }, refused, 'no section'],
  ['what may mend itself is tried again', { ...step, onboards: true }, passing, null],
  ['and so is what nothing is known of', { ...step, onboards: true }, unknown, null],
  ['a stop is waited out', { ...step, onboards: true }, stopped, null],
  ['there is no onboarding to end', step, refused, null],
] as const)('%s', (_why, failed, problem, refusal) => {
  expect(applyFailure(emptyMemory, failed, problem)?.refusal ?? null).toBe(refusal);
});

test('a cause holds until the onboarding has ended, or something is tried again', () => {
  const memory = { ...emptyMemory, refusal: 'no section' };
  expect(prune(memory, observedOf({}, [onboarding('testing')])).refusal).toBe('no section');
  expect(prune(memory, observedOf({}, [onboarding('aborted')])).refusal).toBeNull();
  expect(resetFailures(memory).refusal).toBeNull();
});

const waits = { nova: null };
const initial = [onboarding('initial')];
const later = beginMs + 90 * minute;
const away = { reason: 'NovaUnavailable', message: 'Nova is away', retryable: true, retryAtMs: 1 };
test.each([
  ['goes on while it is waited for', contextOf({}, waits, initial, {}, later), beginMs],
  ['is the same for Placement', contextOf({}, { provider: null }, initial, {}, later), beginMs],
  ['and for the zone', contextOf({ labels: {} }, {}, initial, {}, later), beginMs],
  ['ends when it is there', contextOf({}, { provider: providerOf() }, initial, {}, later), null],
  ['ends with the stage', contextOf({}, waits, [onboarding('testing')], {}, later), null],
  ['does not count an outage', contextOf({}, { ...waits, failure: away }, initial, {}, later), null],
  ['nor a hold', contextOf({}, { ...waits, hold: { reason: 'Held', message: '' } }, initial, {}, later), null],
  ['nor a maintenance', contextOf({ maintenance: 'manual' }, waits, initial, {}, later), null],
  [
    'nor a Node that goes',
    contextOf({}, { ...waits, node: nodeOf({ terminatingSinceMs: 1 }) }, initial, {}, later),
    null,
  ],
  [
    'nor an Eviction of another party',
    contextOf({}, { ...waits, evictions: [ownEvictionOf('running', { ownerUid: null })] }, initial, {}, later),
    null,
  ],
  ['ends where there is no Hypervisor', { ...contextOf({}, waits, initial), desired: null }, null],
])('the time for a registration %s', (_why, context, sinceMs) => {
  expect(clockRegistration({ ...emptyMemory, registeringSinceMs: beginMs }, context).registeringSinceMs).toBe(sinceMs);
});

test('the time for a registration begins when that is waited for', () => {
  const context = contextOf({}, waits, initial, {}, later);
  expect(clockRegistration(emptyMemory, context).registeringSinceMs).toBe(later);
});

test('observations without OpenStack are counted in a row', () => {
  const once = prune(emptyMemory, observedOf({ failure: away }));
  expect([once.failures, prune(once, observedOf({ failure: away })).failures]).toEqual([1, 2]);
  expect(prune(once, observedOf()).failures).toBe(0);
  expect(resetFailures(once).failures).toBe(0);
});
