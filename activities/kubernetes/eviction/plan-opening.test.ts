import { annotations, evictionFinalizer } from '../../../contracts/ids.ts';
import { agentReason, runIdAnnotation } from '../../../contracts/eviction/annotations.ts';
import { planOpening, waitingCondition } from './plan-opening.ts';
import type { OpeningContext } from './plan-opening.ts';
import { sampleCondition, sampleEviction } from '../../../test/fixtures/activities/eviction.ts';
import type { Sample } from '../../../test/fixtures/activities/eviction.ts';

const running = sampleCondition('Evicting', 'True', 'Running');
const succeeded = sampleCondition('Evicting', 'False', 'Succeeded');
const invalid = sampleCondition('Evicting', 'False', 'InvalidObject');
const misnamed = { input: { hypervisor: 'node 1' } };
const bare = { hypervisor: 'node-1' };
const byHand = { hypervisor: 'node-1', reason: 'test' };

const plan = (evictions: Sample[], context: Partial<OpeningContext> = {}) =>
  planOpening({
    input: bare,
    serving: null,
    mode: 'act',
    isRightRun: true,
    runId: 'run-1',
    evictions: evictions.map(sampleEviction),
    ...context,
  });

/** What is done, and to which Eviction. */
const gist = (opening: ReturnType<typeof planOpening>): string => {
  if ('eviction' in opening)
    return `${opening.kind} ${opening.eviction.metadata.name}${'code' in opening ? ` ${opening.code}` : ''}`;
  if (opening.kind === 'nothing')
    return ['nothing', ...opening.held.map(({ metadata }) => `releases ${metadata.name}`)].join(', ');
  return opening.kind === 'refuse' ? `refuse ${opening.code}` : opening.kind;
};

const rows: [why: string, evictions: Sample[], context: Partial<OpeningContext>, gist: string][] = [
  ['the bridge starts a run for one that is gone', [], {}, 'nothing'],
  ['the bridge starts a run for one that is settled', [{ conditions: [succeeded] }], {}, 'nothing'],
  [
    '… and that was not let go',
    [{ conditions: [succeeded], finalizers: [evictionFinalizer] }],
    {},
    'nothing, releases node-1',
  ],
  [
    '… which is no business of one who observes',
    [{ conditions: [succeeded], finalizers: [evictionFinalizer] }],
    { mode: 'observe' },
    'nothing',
  ],
  ['an open one is served', [{}], {}, 'serve node-1'],
  ['the oldest goes first', [{ name: 'b', createdAt: '2026-01-02T00:00:00Z' }, { name: 'a' }], {}, 'serve a'],
  ['of the same age the first by name', [{ name: 'b' }, { name: 'a' }], {}, 'serve a'],
  [
    'the one that runs goes before an older one',
    [{ name: 'a' }, { name: 'b', createdAt: '2026-01-02T00:00:00Z', conditions: [running] }],
    {},
    'serve b',
  ],
  ['a settled one is passed over', [{ name: 'a', conditions: [succeeded] }, { name: 'b' }], {}, 'serve b'],
  [
    'a retry makes it open again',
    [{ conditions: [succeeded], annotations: { [annotations.retry]: '1' } }],
    {},
    'serve node-1',
  ],

  ['a run stays with the one that it serves', [{ name: 'a' }, { name: 'b' }], { serving: 'uid-of-b' }, 'serve b'],
  ['also when that one is settled', [{ name: 'a', conditions: [succeeded] }], { serving: 'uid-of-a' }, 'serve a'],
  ['but not when it is gone', [{ name: 'a' }], { serving: 'uid-of-b' }, 'nothing'],

  ['a run by hand makes one', [], { input: byHand }, 'create'],
  ['also where an earlier one is settled', [{ conditions: [succeeded] }], { input: byHand }, 'create'],
  [
    'but not when its own is done',
    [{ conditions: [succeeded], annotations: { [runIdAnnotation]: 'run-1' } }],
    { input: byHand },
    'nothing',
  ],
  [
    'a run by hand serves one that asks for the same',
    [{}],
    { input: { ...byHand, cause: 'admin', startedBy: 'jane' } },
    'serve node-1',
  ],
  [
    'and is refused where one asks for something else',
    [{}],
    { input: { ...byHand, cause: 'decommission' } },
    'refuse InvalidInput',
  ],
  ['or for another reason', [{ reason: 'other' }], { input: byHand }, 'refuse InvalidInput'],
  ['a run by hand needs a reason', [], { input: { ...bare, parallelism: 2 } }, 'refuse InvalidInput'],
  [
    'also where it says no more than who starts it',
    [],
    { input: { ...bare, startedBy: 'jane' } },
    'refuse InvalidInput',
  ],
  [
    'a dead host is refused before anything is made',
    [],
    { input: { ...byHand, cause: 'node-failure' } },
    'refuse CauseNotSupported',
  ],
  ['nothing is made while drover is switched off', [], { input: byHand, mode: 'off' }, 'refuse ModeOff'],

  ['a run under another id hands over', [{}], { isRightRun: false }, 'handOver node-1'],
  ['after making the object', [], { input: byHand, isRightRun: false }, 'create'],
  ['it was started by hand, so it needs a reason', [], { isRightRun: false }, 'refuse InvalidInput'],

  ['drover is switched off', [{}], { mode: 'off' }, 'reject node-1 ModeOff'],
  ['a bad annotation', [{ annotations: { [annotations.deadline]: 'soon' } }], {}, 'reject node-1 InvalidObject'],
  ['a dead host', [{ annotations: { [annotations.cause]: 'node-failure' } }], {}, 'reject node-1 CauseNotSupported'],
  ['a name that no host has', [{ hypervisor: 'node 1' }], misnamed, 'reject node-1 InvalidObject'],
  ['… where drover is switched off', [{ hypervisor: 'node 1' }], { ...misnamed, mode: 'off' }, 'reject node-1 ModeOff'],
  [
    '… by a run of another id',
    [{ hypervisor: 'node 1' }],
    { ...misnamed, isRightRun: false },
    'reject node-1 InvalidObject',
  ],
  [
    '… is said in each',
    [
      { hypervisor: 'node 1', conditions: [invalid] },
      { name: 'b', hypervisor: 'node 1' },
    ],
    misnamed,
    'reject b InvalidObject',
  ],
  ['… is said once', [{ hypervisor: 'node 1', conditions: [invalid] }], misnamed, 'refuse InvalidInput'],
  ['… and given by hand', [], misnamed, 'refuse InvalidInput'],
  [
    '… of a deleted one that is held',
    [{ hypervisor: 'node 1' }, { name: 'b', hypervisor: 'node 1', deleting: true, finalizers: [evictionFinalizer] }],
    misnamed,
    'nothing, releases b',
  ],
  [
    'a deleted one is let go, whatever it says',
    [{ deleting: true, finalizers: [evictionFinalizer], annotations: { [annotations.deadline]: 'soon' } }],
    {},
    'serve node-1',
  ],
  [
    'also while drover is switched off',
    [{ deleting: true, finalizers: [evictionFinalizer] }],
    { mode: 'off' },
    'serve node-1',
  ],
  [
    'a deleted one that drover does not hold is nothing to it',
    [{ deleting: true, finalizers: ['example.com/other'] }],
    {},
    'nothing',
  ],
];

test.each(rows)('%s', (_why, evictions, context, expected) => {
  expect(gist(plan(evictions, context))).toBe(expected);
});

test('what is asked for comes from the object', () => {
  const given = {
    [annotations.cause]: 'rolling-update',
    [annotations.deadline]: '2026-01-31T12:00:00Z',
    [annotations.reEnable]: 'true',
    [annotations.parallelism]: '4',
    [annotations.acceptObstacles]: 'CapacityShort',
    [annotations.consent]: 'cold-migrate',
    [annotations.consentBy]: 'jane 2026-01-01T00:00:00Z',
    [annotations.startedBy]: 'jane',
  };
  expect(plan([{ generation: 3, annotations: given }])).toMatchObject({
    desired: {
      name: 'node-1',
      uid: 'uid-of-node-1',
      generation: 3,
      hypervisor: 'node-1',
      reason: 'test',
      cause: 'rolling-update',
      deadline: '2026-01-31T12:00:00Z',
      reEnable: true,
      parallelism: 4,
      acceptedObstacles: ['CapacityShort'],
      consent: ['cold-migrate'],
      mode: 'act',
      startedBy: 'jane',
      deleting: false,
    },
  });
});

const modes: [mode: 'observe' | 'act', annotation: Record<string, string>, effective: string][] = [
  ['act', {}, 'act'],
  ['act', { [annotations.mode]: 'observe' }, 'observe'],
  ['observe', {}, 'observe'],
  ['observe', { [annotations.mode]: 'act' }, 'observe'],
];

test.each(modes)('in mode %s with %j drover will %s', (mode, given, effective) => {
  expect(plan([{ annotations: given }], { mode })).toMatchObject({ desired: { mode: effective } });
});

test('the others of the host wait, but for those that end anyway', () => {
  const opening = plan([
    { name: 'a' },
    { name: 'b' },
    { name: 'c', conditions: [succeeded] },
    { name: 'd', deleting: true, finalizers: [evictionFinalizer] },
  ]);
  expect(opening).toMatchObject({ kind: 'serve', waiting: [{ metadata: { name: 'b' } }] });
  expect(waitingCondition(sampleEviction({ name: 'b', generation: 2 }), sampleEviction({ name: 'a' }))).toEqual({
    type: 'Evicting',
    status: 'Unknown',
    reason: 'AlreadyRunning',
    message: 'Eviction a empties node-1; this one waits until that has ended',
    observedGeneration: 2,
  });
});

const rejections: [
  why: string,
  given: Record<string, string>,
  context: Partial<OpeningContext>,
  condition: object | null,
][] = [
  [
    'is final for the object as it is',
    { [annotations.deadline]: 'soon' },
    {},
    { type: 'Evicting', status: 'False', reason: 'InvalidObject' },
  ],
  ['by the mode is not', {}, { mode: 'off' }, { type: 'Evicting', status: 'Unknown', reason: 'ModeOff' }],
  [
    'is drover’s own condition where it observes',
    { [annotations.deadline]: 'soon' },
    { mode: 'observe' },
    { type: 'Observed', status: 'False', reason: 'InvalidObject' },
  ],
  [
    'in the middle of a run is for that run to report',
    { [annotations.deadline]: 'soon' },
    { serving: 'uid-of-node-1' },
    null,
  ],
  [
    'by the mode is final for a run',
    {},
    { serving: 'uid-of-node-1', mode: 'off' },
    { type: 'Evicting', status: 'Unknown', reason: 'ModeOff' },
  ],
];

test.each(rejections)('a rejection %s', (_why, given, context, condition) => {
  const opening = plan([{ generation: 2, annotations: given }], context);
  expect(opening).toMatchObject({
    kind: 'reject',
    condition: condition === null ? null : { ...condition, observedGeneration: 2 },
  });
});

test('a rejection of one that was begun in earnest is not an observation', () => {
  const given = { [annotations.mode]: 'observe', [annotations.cause]: 'node-failure' };
  expect(plan([{ annotations: given, finalizers: [evictionFinalizer] }])).toMatchObject({
    kind: 'reject',
    condition: { type: 'Evicting', status: 'False', reason: 'CauseNotSupported' },
  });
});

test('a rejection says what is wrong and what to do', () => {
  expect(plan([{ annotations: { [annotations.deadline]: 'soon', [annotations.parallelism]: '99' } }])).toMatchObject({
    condition: {
      message:
        'drover.dev/deadline: `soon` is no RFC 3339 time, such as 2026-01-31T12:00:00Z; drover.dev/parallelism: `99` is no whole number from 1 to 64. ' +
        'Correct the object; drover reconciles it again when it changes.',
    },
  });
});

test.each(['node 1', 'node-1 ', 'node-1.', '../nodes', 'n'.repeat(40_000)])(
  'a bad name is named: %.20s',
  (hypervisor) => {
    const opening = plan([{ hypervisor }], { input: { hypervisor } });
    expect(opening).toMatchObject({
      condition: { status: 'False', reason: 'InvalidObject', message: expect.stringContaining('delete this Eviction') },
    });
    expect(opening).toMatchObject({ detail: expect.stringContaining(`\`${hypervisor.slice(0, 253)}\` is `) });
    expect(JSON.stringify(opening.kind === 'reject' && opening.condition).length).toBeLessThan(1_000);
  },
);

test('the node agent’s emergency Eviction is served as one of a host that goes, whatever is on it', () => {
  expect(plan([{ reason: agentReason }])).toMatchObject({ kind: 'serve', desired: { cause: 'termination' } });
  expect(plan([{ reason: agentReason, name: 'other' }])).toMatchObject({ kind: 'serve', desired: { cause: 'admin' } });
});
