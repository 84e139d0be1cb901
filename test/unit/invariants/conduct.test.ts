import type { History } from '@temporalio/common/lib/proto-utils.js';
import { msToTs } from '@temporalio/common/lib/time.js';
import { conductOf } from '../../invariants/conduct.ts';

/** The history of an eviction's run: each invariant of conduct can fail, and says of what. */

type Event = NonNullable<History['events']>[number];

const payloads = (value: unknown) => ({ payloads: [{ data: Buffer.from(JSON.stringify(value)) }] });
let eventId = 0;

/** An activity, asked for and answered. */
const activity = (name: string, answer: unknown, atSeconds = 0, ...input: unknown[]): Event[] => {
  eventId += 2;
  const scheduledEventId = eventId;
  const scheduled = { activityType: { name }, input: { payloads: input.flatMap((value) => payloads(value).payloads) } };
  return [
    { eventId: scheduledEventId, activityTaskScheduledEventAttributes: scheduled },
    {
      eventTime: msToTs(atSeconds * 1_000),
      activityTaskCompletedEventAttributes: { scheduledEventId, result: payloads(answer) },
    },
  ] as unknown as Event[];
};
const signal = (signalName: string, argument: object = {}): Event[] => [
  { workflowExecutionSignaledEventAttributes: { signalName, input: payloads(argument) } },
];
const move = (id: string, serverGroups: string[] = []): Event[] => [
  {
    startChildWorkflowExecutionInitiatedEventAttributes: {
      workflowId: `migration/${id}`,
      input: payloads({ instance: { id, serverGroups } }),
    },
  },
];
const moved = (id: string): Event[] => [
  {
    childWorkflowExecutionCompletedEventAttributes: {
      workflowExecution: { workflowId: `migration/${id}` },
      result: payloads({ outcome: 'moved' }),
    },
  },
];
const ends = (outcome: string): Event[] => [
  { workflowExecutionCompletedEventAttributes: { result: payloads({ outcome }) } },
];
const open = (desired: object = {}, servingUid: string | null = null): Event[] => {
  const opened = { next: 'run', desired, settings: { perSource: 2, emptyRecheckMs: 1_000 } };
  return activity('openEviction', opened, 0, { hypervisor: 'node-1' }, servingUid);
};
const observation = (atSeconds: number, ...instances: string[]): Event[] =>
  activity('observeHost', { service: { status: 'disabled' }, instances, allocations: instances }, atSeconds);

const workflowTask: Event[] = [{ workflowTaskStartedEventAttributes: {} }];
const changed = [...signal('objectChanged'), ...workflowTask];
const continuedAsNew: Event[] = [{ workflowExecutionContinuedAsNewEventAttributes: {} }];

const begun = [...open(), ...observation(0, 's1', 's2', 's3'), ...signal('allowanceGranted', { allowance: 2 })];
const done = [...move('s1'), ...moved('s1'), ...observation(10), ...observation(12), ...ends('reconciled')];

test('what users and limits allow is not complained of', () => {
  expect(conductOf('evictHypervisor', [...begun, ...done])).toEqual([]);
  const resumed = [...begun, ...signal('pause'), ...signal('resume'), ...done];
  expect(conductOf('evictHypervisor', resumed)).toEqual([]);
  const retried = [
    ...begun,
    ...signal('skipInstance', { instance: 's1' }),
    ...signal('retryInstance', { instance: 's1' }),
  ];
  expect(conductOf('evictHypervisor', [...retried, ...done])).toEqual([]);
  // What came before it was opened is in what it read, and what comes while a task runs is received by the next one.
  const read = [
    ...changed,
    ...begun,
    ...changed,
    ...open({}, 'the uid'),
    ...observation(1, 's1'),
    ...signal('objectChanged'),
  ];
  expect(conductOf('evictHypervisor', [...read, ...done])).toEqual([]);
  expect(conductOf('evictHypervisor', [...begun, ...move('s1'), ...moved('s1'), ...continuedAsNew])).toEqual([]);
  // What a run has done before it continued as new stands in what it has carried on.
  const continued = {
    host: { service: { status: 'disabled' } },
    instances: { s1: { state: 'pending' }, s2: { state: 'skipped' } },
  };
  const input = { payloads: [{}, continued].flatMap((value) => payloads(value).payloads) };
  const started = [{ workflowExecutionStartedEventAttributes: { continuedExecutionRunId: 'r0', input } }];
  const goingOn = [...started, ...open({}, 'the uid'), ...signal('allowanceGranted', { allowance: 2 }), ...move('s1')];
  expect(conductOf('evictHypervisor', goingOn)).toEqual([]);
  expect(conductOf('evictHypervisor', [...goingOn, ...move('s2')])).toEqual([expect.stringMatching(/skipped/)]);
  // The run has ended one Eviction and lingers: a pause is refused then, and it serves the next one.
  const lingering = [...begun, ...signal('pause'), ...signal('skipInstance', { instance: 's1' }), ...open()];
  expect(conductOf('evictHypervisor', [...lingering, ...observation(1, 's1'), ...done])).toEqual([]);
});

const rows: [what: RegExp, events: Event[]][] = [
  [/moves s1 after it was stopped/, [...begun, ...signal('cancelEviction'), ...move('s1')]],
  [/moves s1 while it is paused/, [...begun, ...signal('pause'), ...move('s1')]],
  [/moves s1 while it is paused/, [...begun, ...signal('pause'), ...open({}, 'the uid'), ...move('s1')]],
  [/was to observe only/, [...begun, ...open({ mode: 'observe' }), ...move('s1')]],
  [/moves s1, which a user has skipped/, [...begun, ...signal('skipInstance', { instance: 's1' }), ...move('s1')]],
  [/moves s1 before the host is disabled/, [...open(), ...signal('allowanceGranted', { allowance: 1 }), ...move('s1')]],
  [
    /moves 2 at once, and may move 1$/,
    [...begun, ...signal('setParallelism', { parallelism: 1 }), ...move('s1'), ...move('s2')],
  ],
  [
    /the region grants it 1$/,
    [...begun, ...signal('allowanceGranted', { allowance: 1 }), ...move('s1'), ...move('s2')],
  ],
  [/beside another one of server group g/, [...begun, ...move('s1', ['g']), ...move('s2', ['g'])]],
  [/s1, and has not read the Eviction, which has changed/, [...begun, ...changed, ...move('s1')]],
  [/continues as new with s1 in flight/, [...begun, ...move('s1'), ...continuedAsNew]],
  [/ends with s1 in flight/, [...begun, ...move('s1'), ...ends('Failed')]],
  [
    /did not see the host empty twice/,
    [...begun, ...move('s1'), ...moved('s1'), ...observation(0), ...ends('reconciled')],
  ],
  [/did not see the host empty twice/, [...begun, ...observation(0), ...observation(0), ...ends('reconciled')]],
  [/did not see the host empty twice/, [...begun, ...observation(10, 's1'), ...ends('reconciled')]],
];
test('long after the host was disabled it is enough to see it empty once', () => {
  expect(conductOf('evictHypervisor', [...begun, ...observation(10), ...ends('reconciled')])).toEqual([]);
});

test.each(rows)('%s', (what, events) => {
  expect(conductOf('evictHypervisor', events)).toEqual([expect.stringMatching(what)]);
});

const child = (activityName: string, consent: string[]): Event[] => [
  { workflowExecutionStartedEventAttributes: { input: payloads({ consent, instance: { vmState: 'active' } }) } },
  ...activity(activityName, null),
];
test('nothing is forced or moved cold without consent', () => {
  expect(conductOf('migrateInstance', child('forceCompleteMigration', []))).toEqual([expect.stringMatching(/forces/)]);
  expect(conductOf('migrateInstance', child('startColdMigration', []))).toEqual([expect.stringMatching(/cold/)]);
  expect(conductOf('migrateInstance', child('startColdMigration', ['cold-migrate']))).toEqual([]);
});

test('a run whose payloads are encrypted is not judged', () => {
  const encrypted = { data: Buffer.from('…'), metadata: { encoding: Buffer.from('binary/encrypted') } };
  const grant = {
    workflowExecutionSignaledEventAttributes: { signalName: 'allowanceGranted', input: { payloads: [encrypted] } },
  };
  const plain = [...open(), ...observation(0, 's1'), ...move('s1')];
  expect(conductOf('evictHypervisor', plain)).toEqual([expect.stringMatching(/grants it 0/)]);
  expect(conductOf('evictHypervisor', [grant as unknown as Event, ...plain])).toEqual([]);
});
