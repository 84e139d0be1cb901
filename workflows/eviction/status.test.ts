import { describeConditions, describeDetails, describeProgress } from './status.ts';
import { evictionOf, hostWith, server } from '../../test/fixtures/workflows/eviction.ts';
import type { EvictionState } from './state.ts';
import { enterState } from './state.ts';

const state = (change: (state: EvictionState) => unknown = () => undefined): EvictionState => {
  const made = evictionOf(hostWith(server('a'), server('b')));
  change(made);
  return made;
};
const obstacle = { id: 'Vgpu/a', code: 'Vgpu' as const, instanceId: 'a', message: 'has a vGPU' };
const end = (phase: 'Succeeded' | 'Failed' | 'Stopped' | 'Observed', reason: string = phase) => ({
  phase,
  reason,
  message: 'how it went',
});

/** Five servers, none of which can be moved. */
function many(change: (state: EvictionState) => unknown): EvictionState {
  const made = evictionOf(hostWith(...['a', 'b', 'c', 'd', 'e'].map((id) => server(id))));
  for (const one of Object.values(made.instances)) enterState(one, 'blocked', 1, 'locked');
  change(made);
  return made;
}

type Row = [why: string, state: EvictionState, waiting: string | null, type: string, expected: object];
const rows: Row[] = [
  [
    'it runs, with figures and what it waits for',
    state(),
    '1 in flight',
    'Evicting',
    {
      status: 'True',
      reason: 'Running',
      message: '0 of 2 servers have left node-1; 2 not moved. Waiting for 1 in flight',
    },
  ],
  [
    'paused is said, and no reason of its own: others wait for the reason',
    state((s) => (s.paused = { by: 'ann', reason: null, sinceMs: 0 })),
    'a user to resume it',
    'Evicting',
    {
      status: 'True',
      reason: 'Running',
      message: '0 of 2 servers have left node-1; 2 not moved. Paused by ann. Waiting for a user to resume it',
    },
  ],
  [
    'so is a stop',
    state((s) => (s.stop = { abort: false, reEnable: false, by: 'ann', atMs: 0, aborted: false })),
    null,
    'Evicting',
    { status: 'True', reason: 'Running', message: expect.stringMatching(/Stopping, after ann$/) },
  ],
  [
    'and a system that fails',
    state(
      (s) =>
        (s.problem = { reason: 'NovaUnavailable', message: 'Nova is away', failures: 1, retryAtMs: 0, kind: 'step' }),
    ),
    'Nova is away',
    'Evicting',
    {
      status: 'True',
      reason: 'Running',
      message: '0 of 2 servers have left node-1; 2 not moved. NovaUnavailable: Nova is away',
    },
  ],
  [
    'which says why before anything is waited for',
    state(
      (s) => (
        (s.host = null),
        (s.problem = { reason: 'NotPermitted', message: 'Use an admin', failures: 1, retryAtMs: 0, kind: 'step' })
      ),
    ),
    null,
    'Evicting',
    { status: 'True', reason: 'Running', message: 'Moving node-1. NotPermitted: Use an admin' },
  ],
  [
    'a failure is False/Failed, never Succeeded (H10)',
    state((s) => (enterState(s.instances['a']!, 'blocked', 1, 'locked'), (s.end = end('Failed')))),
    null,
    'Evicting',
    { status: 'False', reason: 'Failed', message: 'how it went. vm-a (a): locked' },
  ],
  [
    'of many, the worst three are named, and the rest is counted',
    many((s) => (s.end = end('Failed'))),
    null,
    'Evicting',
    {
      message:
        'how it went. vm-a (a): locked; vm-b (b): locked; vm-c (c): locked; and 2 more: `drover describe node-1`',
    },
  ],
  [
    'by name alone where why is said elsewhere',
    many(() => undefined),
    null,
    'MigratingInstance',
    { message: '5 servers not migratable: vm-a (a); vm-b (b); vm-c (c); and 2 more: `drover describe node-1`' },
  ],
  [
    'of obstacles too',
    many((s) => (s.obstacles = ['a', 'b', 'c', 'd'].map((id) => ({ ...obstacle, id: `Vgpu/${id}`, instanceId: id })))),
    null,
    'PreflightChecksSucceeded',
    { message: expect.stringMatching(/^4 obstacles: .*\[Vgpu\/c\]; and 1 more: `drover describe node-1`\./) },
  ],
  [
    'a stop names what it has left in flight',
    state(
      (s) => (
        (s.instances['a']!.inFlight = 7),
        (s.instances['a']!.message = 'migration 7 hangs'),
        (s.end = end('Stopped'))
      ),
    ),
    null,
    'Evicting',
    { status: 'False', reason: 'Stopped', message: 'how it went. vm-a (a): migration 7 hangs' },
  ],
  [
    'a refusal does not name its obstacles twice',
    state((s) => (enterState(s.instances['a']!, 'blocked', 1, 'locked'), (s.end = end('Failed', 'PreflightFailed')))),
    null,
    'Evicting',
    { status: 'False', reason: 'PreflightFailed', message: 'how it went' },
  ],
  [
    'success is False/Succeeded',
    state((s) => (s.end = end('Succeeded'))),
    null,
    'Evicting',
    { status: 'False', reason: 'Succeeded' },
  ],
  [
    'a passed preflight',
    state(),
    null,
    'PreflightChecksSucceeded',
    { status: 'True', reason: 'Succeeded', message: 'Preflight checks passed.' },
  ],
  [
    'accepted obstacles stay visible',
    state((s) => (s.obstacles.push(obstacle), s.accepted.push('Vgpu/a'))),
    null,
    'PreflightChecksSucceeded',
    { status: 'True', message: 'Preflight checks passed. Accepted: Vgpu/a.' },
  ],
  [
    'what the preflight could not find out is said, and blocks nothing',
    state((its) => (its.notes = ['One server asks for NUMA cells'])),
    null,
    'PreflightChecksSucceeded',
    { status: 'True', message: 'Preflight checks passed. One server asks for NUMA cells.' },
  ],
  [
    'obstacles are named with their ids',
    state((s) => (s.obstacles.push(obstacle), (s.end = end('Failed', 'PreflightFailed')))),
    null,
    'PreflightChecksSucceeded',
    { status: 'False', reason: 'Failed', message: '1 obstacle: has a vGPU [Vgpu/a].' },
  ],
  [
    'carried along, they say why',
    state((s) => (s.obstacles.push(obstacle), (s.desired.cause = 'rolling-update'))),
    null,
    'PreflightChecksSucceeded',
    { status: 'False', message: '1 obstacle: has a vGPU [Vgpu/a]. Carried along because the cause is rolling-update.' },
  ],
  [
    'the last that moved is named',
    state((s) => (enterState(s.instances['a']!, 'moved', 5), (s.instances['a']!.target = 'node-2'))),
    null,
    'MigratingInstance',
    { status: 'False', reason: 'Succeeded', message: 'Migration of instance a (vm-a) finished: it is on node-2' },
  ],
  [
    'a failure stays while others move',
    state((s) => (enterState(s.instances['a']!, 'moved', 5), enterState(s.instances['b']!, 'blocked', 4, 'locked'))),
    null,
    'MigratingInstance',
    { status: 'False', reason: 'Failed', message: '1 server not migratable: vm-b (b)' },
  ],
  [
    'the disabled service says whose reason it carries',
    state(),
    null,
    'HypervisorDisabled',
    { status: 'True', message: 'Disabled in Nova: drover: eviction node-1: kernel update' },
  ],
  [
    'the host’s return is awaited visibly',
    state((s) => ((s.phase = 'ReEnabling'), (s.end = end('Succeeded')))),
    null,
    'HypervisorReEnabled',
    { status: 'Unknown', reason: 'WaitingForNode' },
  ],
  [
    'that drover is stopped then, too',
    state((s) => {
      s.phase = 'ReEnabling';
      s.end = end('Succeeded');
      s.problem = { reason: 'Stopped', message: 'drover is stopped', failures: 1, retryAtMs: 0, kind: 'step' };
    }),
    'drover to be started',
    'HypervisorReEnabled',
    { status: 'Unknown', reason: 'Stopped', message: 'Waiting for drover to be started' },
  ],
  [
    'left disabled',
    state((s) => ((s.reEnabled = false), (s.end = end('Succeeded')))),
    null,
    'HypervisorReEnabled',
    { status: 'False', reason: 'LeftDisabled' },
  ],
  [
    'enabled again',
    state((s) => ((s.reEnabled = true), (s.end = end('Succeeded')))),
    null,
    'HypervisorReEnabled',
    { status: 'True', reason: 'Succeeded' },
  ],
  [
    'observing says what it would do; the activity that writes it keeps to a condition of its own',
    state((s) => ((s.desired.mode = 'observe'), (s.end = end('Observed')))),
    null,
    'Evicting',
    { status: 'False', reason: 'Observed' },
  ],
];

test.each(rows)('%s', (_why, its, waiting, type, expected) => {
  const found = describeConditions(its, waiting, 1_000).find((condition) => condition.type === type);
  expect(found).toMatchObject({ ...expected, observedGeneration: 1 });
});

test('every condition is one that Kubernetes takes', () => {
  const its = state(
    (s) => (
      enterState(s.instances['a']!, 'blocked', 1, 'x'.repeat(3_000)),
      s.obstacles.push(obstacle),
      (s.end = end('Failed'))
    ),
  );
  for (const { reason, message } of describeConditions(its, null, 1_000)) {
    expect(reason).toMatch(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/);
    expect(message.length).toBeLessThanOrEqual(32_768);
  }
});

test('the details put the sentence that matters first, then what needs a person', () => {
  const its = state((s) => enterState(s.instances['b']!, 'blocked', 1, 'a | b'));
  const lines = describeDetails(describeProgress(its, { message: 'an allowance', untilMs: null }, 2_000), null).split(
    '\n',
  );
  expect(lines[0]).toBe('**Moving: 0 of 2 servers have left node-1**');
  expect(lines[2]).toBe('Waiting for an allowance · 0 of 1 slots in use');
  its.notes = ['what is not known'];
  expect(describeDetails(describeProgress(its, null, 2_000), null)).toMatch(/\n\n- what is not known\n\n\| instance/u);
  expect(describeDetails(describeProgress(its, { message: 'a Node', untilMs: null }, 2_000), 'It is empty')).toMatch(
    /^\*\*It is empty\*\*\n\nWaiting for a Node · /u,
  );
  expect(lines[6]).toBe('| vm-b | blocked |  |  |  | a \\| b |');
});
