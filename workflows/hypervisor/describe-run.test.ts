import { describeProgress, describeRun } from './describe-run.ts';
import type { HypervisorRun } from './run.ts';
import { beginState } from './run.ts';

const run: HypervisorRun = {
  name: 'node-1',
  state: {
    ...beginState(),
    tests: [
      {
        check: 'libvirt',
        attempts: 2,
        atMs: 0,
        results: [
          {
            name: 'LibvirtReachable',
            outcome: 'passed',
            expectation: 'it answers',
            seen: 'it does',
            code: null,
            durationMs: 40,
          },
        ],
        libVirtVersion: '9.0.0',
      },
    ],
  },
  seen: null,
  waiting: { for: 'nova-compute', untilMs: Date.parse('2026-01-01T00:00:30Z') },
  message: 'Waiting for nova-compute',
};

test('progress says what it waits for, until when, and how the checks went', () => {
  expect(describeProgress(run)).toEqual({
    hypervisor: 'node-1',
    state: null,
    message: 'Waiting for nova-compute',
    waitingFor: 'nova-compute',
    nextWakeUp: '2026-01-01T00:00:30.000Z',
    failure: null,
    tests: [{ check: 'libvirt', attempts: 2, passed: true }],
  });
});

test('the Web UI gets a table that no message breaks', () => {
  const status = {
    conditions: [{ type: 'Ready', status: 'False', reason: 'Onboarding', message: 'a | b\nc' }],
    removed: [],
    hypervisorId: null,
    serviceId: null,
    traits: null,
    aggregates: null,
    internalIp: null,
    evicted: null,
    libVirtVersion: null,
  } as const;
  const lines = describeRun(run, { ...status, conditions: [...status.conditions], removed: [] }).split('\n');
  expect(lines[0]).toBe('**node-1** Waiting for nova-compute');
  expect(lines).toContain('not in Nova');
  expect(lines.at(-1)).toBe('| Ready | False | Onboarding | a \\| b c |');
});
