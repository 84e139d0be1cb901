import { describeProgress, describeRun } from './describe-run.ts';
import { noFacts } from './compose-observation.ts';
import { beginRun } from './run.ts';
import { failureIn, memoryOf, vmOf } from '../../test/fixtures/workflows/virtual-machine.ts';

const run = beginRun('team', 'web', {
  memory: memoryOf({ failures: [{ ...failureIn('power'), message: 'no room', retryAtMs: 30_000 }] }),
  failures: 0,
  acted: true,
});
Object.assign(run, {
  phase: 'PoweringOn',
  message: 'Waiting for room',
  waiting: { for: 'room', untilMs: 60_000 },
  facts: { ...noFacts, vm: vmOf({ moId: 'vm-7', powerState: 'poweredOff', hostName: 'esx-1' }) },
});

test('progress says what it waits for, what failed, and where the VM is', () => {
  expect(describeProgress(run)).toEqual({
    virtualMachine: 'team/web',
    state: 'PoweringOn',
    message: 'Waiting for room',
    waitingFor: 'room',
    nextWakeUp: '1970-01-01T00:01:00.000Z',
    vmId: 'vm-7',
    powerState: 'poweredOff',
    host: 'esx-1',
    failures: [{ phase: 'power', message: 'no room', attempts: 1, retryAt: '1970-01-01T00:00:30.000Z' }],
  });
});

test('the Web UI gets a table that no message breaks', () => {
  const lines = describeRun(run, {
    fields: {},
    removed: [],
    conditions: [{ type: 'Lifecycle', status: 'Unknown', reason: 'PoweringOn', message: 'a | b\nc' }],
  }).split('\n');
  expect(lines.slice(0, 3)).toEqual(['**team/web** Waiting for room', '', 'vm-7, poweredOff, on esx-1']);
  expect(lines.at(-1)).toBe('| Lifecycle | Unknown | PoweringOn | a \\| b c |');
});
