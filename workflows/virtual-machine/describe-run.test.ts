import { describeProgress, describeRun } from './describe-run.ts';
import { noFacts } from './compose-observation.ts';
import { beginRun, isOutdated, emptyInbox } from './run.ts';
import { desiredOf, failureIn, memoryOf, settings, vmOf } from './sample.ts';

const run = beginRun('team', 'web', { memory: memoryOf({ failures: [{ ...failureIn('power'), message: 'no room', retryAtMs: 30_000 }] }), failures: 0, acted: true });
Object.assign(run, { phase: 'PoweringOn', message: 'Waiting for room', waiting: { for: 'room', untilMs: 60_000 }, facts: { ...noFacts, vm: vmOf({ moId: 'vm-7', powerState: 'poweredOff', hostName: 'esx-1' }) } });

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
  const lines = describeRun(run, { fields: {}, removed: [], conditions: [{ type: 'Lifecycle', status: 'Unknown', reason: 'PoweringOn', message: 'a | b\nc' }] }).split('\n');
  expect(lines.slice(0, 3)).toEqual(['**team/web** Waiting for room', '', 'vm-7, poweredOff, on esx-1']);
  expect(lines.at(-1)).toBe('| Lifecycle | Unknown | PoweringOn | a \\| b c |');
});

test.each([
  ['nothing has come', {}, false],
  ['an echo of what the run itself wrote beside the spec', { changed: true, generation: 3 }, false],
  ['another spec', { changed: true, generation: 4 }, true],
  ['a signal by hand', { changed: true }, false],
  ['a cancel', { cancelled: true }, true],
])('steps go on, or not: %s', (_, news, outdated) => {
  const seen = { next: 'run' as const, settings, desired: desiredOf({ generation: 3 }), recorded: {}, objects: { class: null, image: null, resourcePolicy: null, storageClass: null, bootstrap: null, isos: {}, networks: [], imageCache: null, group: null, snapshots: { inProgress: null, problem: null } } };
  expect(isOutdated({ ...run, seen }, { ...emptyInbox(), ...news })).toBe(outdated);
});
