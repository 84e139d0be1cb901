import { beginMs, beyondHost, minute, testOf } from '../../test/fixtures/workflows/hypervisor.ts';
import { describeTested, planTesting } from './testing.ts';
import type { TestingQuestion } from './testing.ts';

describe('which checks run', () => {
  const question: TestingQuestion = {
    checks: ['libvirt', 'ovs', 'ceph'],
    skipTests: false,
    sinceMs: beginMs,
    tests: [],
    maxAttempts: 3,
    retryDelayMs: 30_000,
    recheckMs: 10_000,
    slowMs: 30 * minute,
    nowMs: beginMs + minute,
  };
  const passed = [testOf('libvirt', null), testOf('ovs', null), testOf('ceph', null)];
  const run = (...checks: [check: string, attempt: number][]): object => ({
    kind: 'run',
    checks: checks.map(([check, attempt]) => ({ check, attempt })),
  });
  const failed = (message: string): object => ({ kind: 'failed', message });
  const late = { nowMs: beginMs + 60 * minute };

  const rows: [why: string, more: Partial<TestingQuestion>, plan: object][] = [
    ['all that only ask run first', {}, run(['libvirt', 1], ['ovs', 1], ['ceph', 1])],
    ['only those that are configured', { checks: ['ovs'] }, run(['ovs', 1])],
    ['a server is started after them', { checks: ['smoke', 'libvirt'] }, run(['libvirt', 1])],
    ['once they have passed', { checks: ['smoke', 'libvirt'], tests: [testOf('libvirt', null)] }, run(['smoke', 1])],
    ['what has passed does not run again', { tests: [testOf('ovs', null)] }, run(['libvirt', 1], ['ceph', 1])],
    ['all have passed', { tests: passed }, { kind: 'passed' }],
    ['none is configured', { checks: [] }, { kind: 'passed' }],
    ['skipTests', { skipTests: true, tests: [testOf('ovs', 'CredentialRefused')] }, { kind: 'passed' }],
    [
      'results from before the onboarding do not count',
      { tests: passed.map((record) => ({ ...record, atMs: beginMs - 1 })) },
      run(['libvirt', 1], ['ovs', 1], ['ceph', 1]),
    ],
    [
      'those of this onboarding do, where it was said by a clock that was ahead',
      { tests: passed.map((record) => ({ ...record, atMs: beginMs - 1, sinceMs: beginMs })) },
      { kind: 'passed' },
    ],
    [
      'a check that failed is tried again after a pause',
      { tests: [testOf('libvirt', null), testOf('ceph', null), testOf('ovs', 'NovaUnavailable')] },
      {
        kind: 'pause',
        untilMs: beginMs + minute + 30_000,
        message: 'ovs: Check.ovs expected ovs to work, saw that it does not [NovaUnavailable]',
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
      { kind: 'pause', untilMs: beginMs + 2 * minute, message: expect.any(String) as string },
    ],
    ['others go on meanwhile', { tests: [testOf('ovs', 'NovaUnavailable')] }, run(['libvirt', 1], ['ceph', 1])],
    [
      'a server is not started while one pauses',
      { checks: ['libvirt', 'smoke'], tests: [testOf('libvirt', 'NovaUnavailable')] },
      { kind: 'pause', untilMs: beginMs + minute + 30_000, message: expect.any(String) as string },
    ],
    [
      'tried often enough: check, expectation and what was observed',
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
      'what another check of the host has removed is made again',
      { ...late, tests: [testOf('libvirt', 'DomainNotFound'), testOf('ceph', 'StoragePoolNotFound')] },
      run(['libvirt', 2], ['ovs', 1], ['ceph', 2]),
    ],
    [
      'all that failed are named',
      { ...late, tests: [testOf('libvirt', 'CredentialRefused'), testOf('ovs', 'NovaUnavailable', { attempts: 3 })] },
      failed(
        'Check libvirt failed once: Check.libvirt expected libvirt to work, saw that it does not [CredentialRefused]. Check ovs failed 3 times: Check.ovs expected ovs to work, saw that it does not [NovaUnavailable]',
      ),
    ],
    [
      'what was observed and is not enough may yet become so',
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
                observed: '8.0.0',
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
                observed: '8.0.0',
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
                observed: 'nothing',
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
      'a cluster that is not well is no failure of the host’s',
      { checks: ['ceph'], tests: [beyondHost('CephUnhealthy')] },
      {
        kind: 'beyondHost',
        untilMs: beginMs + minute + 10_000,
        message: 'ceph: CephHealthy expected HEALTH_OK, saw HEALTH_WARN [CephUnhealthy]',
        needsOperator: false,
      },
    ],
    [
      'it is asked again, and that counts as the same attempt',
      { ...late, checks: ['ceph'], tests: [beyondHost('CephUnhealthy')] },
      run(['ceph', 1]),
    ],
    [
      'slowly, where only an operator can mend it',
      { nowMs: beginMs + 20 * minute, checks: ['ceph'], tests: [beyondHost('CephCredentialRefused')] },
      {
        kind: 'beyondHost',
        untilMs: beginMs + 31 * minute,
        message: 'ceph: CephHealthy expected HEALTH_OK, saw HEALTH_WARN [CephCredentialRefused]',
        needsOperator: true,
      },
    ],
    [
      'what else failed beside it says nothing of the host either',
      {
        ...late,
        checks: ['ceph'],
        tests: [
          beyondHost('CephUnhealthy', {
            attempts: 3,
            results: [...beyondHost('CephUnhealthy').results, ...testOf('ceph', 'CredentialRefused').results],
          }),
        ],
      },
      run(['ceph', 4]),
    ],
    [
      'one that waits for that does not keep another from failing',
      { ...late, checks: ['ovs', 'ceph'], tests: [beyondHost('CephUnhealthy'), testOf('ovs', 'CredentialRefused')] },
      failed('Check ovs failed once: Check.ovs expected ovs to work, saw that it does not [CredentialRefused]'),
    ],
    [
      'a check that found nothing has observed nothing',
      { ...late, checks: ['ovs'], tests: [testOf('ovs', null, { results: [] })] },
      run(['ovs', 2]),
    ],
  ];

  test.each(rows)('%s', (_why, more, plan) => {
    expect(planTesting({ ...question, ...more })).toEqual(plan);
  });
});

describe('what is said of the tests', () => {
  test.each([
    ['they have passed', ['libvirt', 'smoke'] as const, false, 'True', 'Passed', 'Passed: libvirt, smoke'],
    ['no user wanted them', ['libvirt'] as const, true, 'Unknown', 'Skipped', 'Not tested: spec.skipTests says so'],
    ['there are none', [] as const, false, 'Unknown', 'NoChecksConfigured', expect.stringMatching(/smoke/u)],
  ])('%s', (_why, checks, skipTests, status, reason, message) => {
    expect(describeTested({ checks, skipTests })).toEqual({ type: 'Tested', status, reason, message });
  });
});
