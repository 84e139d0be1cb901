import { planTesting } from './plan-testing.ts';
import type { TestingFacts } from './plan-testing.ts';
import { beginMs, minute, testOf } from '../../test/fixtures/workflows/hypervisor.ts';

const facts: TestingFacts = {
  checks: ['libvirt', 'ovs', 'ceph'],
  skipTests: false,
  sinceMs: beginMs,
  tests: [],
  maxAttempts: 3,
  retryDelayMs: 30_000,
  nowMs: beginMs + minute,
};
const passed = [testOf('libvirt', null), testOf('ovs', null), testOf('ceph', null)];
const run = (...checks: [check: string, attempt: number][]): object => ({
  next: 'run',
  steps: checks.map(([check, attempt]) => ({
    do: 'runCheck',
    check,
    attempt,
    sinceMs: beginMs,
    words: `Check ${check}, attempt ${attempt} of 3`,
  })),
});
const failed = (message: string): object => ({ next: 'failed', message });
const late = { nowMs: beginMs + 60 * minute };

const rows: [why: string, more: Partial<TestingFacts>, plan: object][] = [
  ['all that only ask run first', {}, run(['libvirt', 1], ['ovs', 1], ['ceph', 1])],
  ['only those that are configured', { checks: ['ovs'] }, run(['ovs', 1])],
  ['a server is started after them', { checks: ['smoke', 'libvirt'] }, run(['libvirt', 1])],
  ['once they have passed', { checks: ['smoke', 'libvirt'], tests: [testOf('libvirt', null)] }, run(['smoke', 1])],
  ['what has passed does not run again', { tests: [testOf('ovs', null)] }, run(['libvirt', 1], ['ceph', 1])],
  ['all have passed', { tests: passed }, { next: 'passed' }],
  ['none is configured', { checks: [] }, { next: 'passed' }],
  ['skipTests', { skipTests: true, tests: [testOf('ovs', 'CredentialRefused')] }, { next: 'passed' }],
  [
    'results from before the onboarding do not count',
    { tests: passed.map((record) => ({ ...record, atMs: beginMs - 1 })) },
    run(['libvirt', 1], ['ovs', 1], ['ceph', 1]),
  ],
  [
    'those of this onboarding do, where it was said by a clock that was ahead',
    { tests: passed.map((record) => ({ ...record, atMs: beginMs - 1, sinceMs: beginMs })) },
    { next: 'passed' },
  ],
  [
    'a check that failed is tried again after a pause',
    { tests: [testOf('libvirt', null), testOf('ceph', null), testOf('ovs', 'NovaUnavailable')] },
    {
      next: 'pause',
      untilMs: beginMs + minute + 30_000,
      words: 'ovs: Check.ovs expected ovs to work, saw that it does not [NovaUnavailable]',
    },
  ],
  [
    'when that is over',
    { ...late, tests: [testOf('libvirt', null), testOf('ceph', null), testOf('ovs', 'NovaUnavailable')] },
    run(['ovs', 2]),
  ],
  [
    'the pause doubles',
    { tests: [testOf('libvirt', null), testOf('ceph', null), testOf('ovs', 'NovaUnavailable', { attempts: 2 })] },
    { next: 'pause', untilMs: beginMs + 2 * minute, words: expect.any(String) as string },
  ],
  ['others go on meanwhile', { tests: [testOf('ovs', 'NovaUnavailable')] }, run(['libvirt', 1], ['ceph', 1])],
  [
    'a server is not started while one pauses',
    { checks: ['libvirt', 'smoke'], tests: [testOf('libvirt', 'NovaUnavailable')] },
    { next: 'pause', untilMs: beginMs + minute + 30_000, words: expect.any(String) as string },
  ],
  [
    'tried often enough: check, expectation and what was seen',
    { ...late, tests: [testOf('ovs', 'NovaUnavailable', { attempts: 3 })] },
    failed('Check ovs failed 3 times: Check.ovs expected ovs to work, saw that it does not [NovaUnavailable]'),
  ],
  [
    'what cannot mend itself is not tried again',
    { ...late, tests: [testOf('libvirt', 'CredentialRefused')] },
    failed(
      'Check libvirt failed once: Check.libvirt expected libvirt to work, saw that it does not [CredentialRefused]',
    ),
  ],
  [
    'all that failed are named',
    { ...late, tests: [testOf('libvirt', 'CredentialRefused'), testOf('ovs', 'NovaUnavailable', { attempts: 3 })] },
    failed(
      'Check libvirt failed once: Check.libvirt expected libvirt to work, saw that it does not [CredentialRefused]. Check ovs failed 3 times: Check.ovs expected ovs to work, saw that it does not [NovaUnavailable]',
    ),
  ],
  [
    'what was seen and is not enough may yet become so',
    {
      ...late,
      checks: ['libvirt'],
      tests: [
        testOf('libvirt', null, {
          results: [
            {
              name: 'LibvirtVersion',
              outcome: 'failed',
              expectation: 'libvirt 9.0.0 or newer',
              seen: '8.0.0',
              code: null,
              durationMs: 1,
            },
          ],
        }),
      ],
    },
    run(['libvirt', 2]),
  ],
  [
    'but not for ever',
    {
      ...late,
      checks: ['libvirt'],
      tests: [
        testOf('libvirt', null, {
          attempts: 3,
          results: [
            {
              name: 'LibvirtVersion',
              outcome: 'failed',
              expectation: 'libvirt 9.0.0 or newer',
              seen: '8.0.0',
              code: null,
              durationMs: 1,
            },
          ],
        }),
      ],
    },
    failed('Check libvirt failed 3 times: LibvirtVersion expected libvirt 9.0.0 or newer, saw 8.0.0'),
  ],
  [
    'what was skipped is not known to be well',
    {
      ...late,
      checks: ['libvirt'],
      tests: [
        testOf('libvirt', null, {
          results: [
            {
              name: 'LibvirtStartsVm',
              outcome: 'skipped',
              expectation: 'a VM starts',
              seen: 'nothing',
              code: null,
              durationMs: 0,
            },
          ],
        }),
      ],
    },
    run(['libvirt', 2]),
  ],
  [
    'a check that found nothing has not looked',
    { ...late, checks: ['ovs'], tests: [testOf('ovs', null, { results: [] })] },
    run(['ovs', 2]),
  ],
];

test.each(rows)('%s', (_why, more, plan) => {
  expect(planTesting({ ...facts, ...more })).toEqual(plan);
});
