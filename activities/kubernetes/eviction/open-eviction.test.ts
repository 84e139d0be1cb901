import type { Condition } from '../../../contracts/conditions.ts';
import { bootIdAnnotation, retryHandledAnnotation, runIdAnnotation } from '../../../contracts/eviction/annotations.ts';
import { annotations, evictionFinalizer } from '../../../contracts/ids.ts';
import { beginConditions, beginMetadata } from './open-eviction.ts';
import { sampleCondition, sampleEviction } from '../../../test/fixtures/activities/eviction.ts';
import type { Sample } from '../../../test/fixtures/activities/eviction.ts';

const now = new Date('2026-02-01T00:00:00Z');
const foreign = sampleCondition('Custom', 'True', 'Whatever');
const begin = (sample: Sample, mode: 'observe' | 'act' = 'act') => beginConditions(sampleEviction(sample), mode, now);

test('a new one runs', () => {
  expect(begin({ generation: 2 })).toEqual([
    {
      type: 'Evicting',
      status: 'True',
      reason: 'Running',
      message: 'Opening node-1',
      observedGeneration: 2,
      lastTransitionTime: '2026-02-01T00:00:00.000Z',
    },
  ]);
});

test('one that ended runs again, and what the earlier run said goes', () => {
  const ended = [
    sampleCondition('Evicting', 'False', 'Failed'),
    sampleCondition('PreflightChecksSucceeded', 'False', 'Failed'),
    sampleCondition('HypervisorReEnabled', 'Unknown', 'WaitingForNode'),
    foreign,
  ];
  expect(begin({ conditions: ended })?.map(({ type, status }) => `${type}=${status}`)).toEqual([
    'Evicting=True',
    'Custom=True',
  ]);
});

test('one that ran when its run was lost keeps its words', () => {
  expect(begin({ conditions: [sampleCondition('Evicting', 'True', 'Paused')] })).toBeNull();
});

test('where drover observes it leaves the words of others alone, which have no generation', () => {
  const others = [
    sampleCondition('Evicting', 'True', 'Running'),
    sampleCondition('PreflightChecksSucceeded', 'True', 'Succeeded'),
  ];
  for (const condition of others) delete condition.observedGeneration;
  expect(begin({ conditions: others }, 'observe')).toEqual([
    ...others,
    expect.objectContaining({ type: 'Observed', status: 'Unknown', reason: 'Running' }),
  ]);
});

test.each<[what: string, status: Condition['status'], reason: string, types: string[]]>([
  ['that it runs', 'True', 'Running', ['Custom', 'Observed']],
  ['that it waits for its turn', 'Unknown', 'AlreadyRunning', ['Custom', 'Observed']],
  ['that it is refused', 'False', 'InvalidObject', ['Custom', 'Observed']],
  ['how it ended', 'False', 'Stopped', ['Evicting', 'Custom', 'Observed']],
])('one that is only to be observed before drover holds it: %s', (_what, status, reason, types) => {
  const annotated = { annotations: { [annotations.mode]: 'observe' } };
  const conditions = begin({ ...annotated, conditions: [sampleCondition('Evicting', status, reason), foreign] });
  expect(conditions?.map(({ type }) => type)).toEqual(types);
  expect(begin({ ...annotated, conditions: conditions ?? [] })).toBeNull();
});

test('one that was begun in earnest runs as such, though it is only to be observed by now', () => {
  const stopped = [sampleCondition('Evicting', 'False', 'Stopped')];
  const held = { finalizers: [evictionFinalizer], annotations: { [annotations.mode]: 'observe' } };
  expect(begin({ ...held, conditions: stopped }, 'observe')).toMatchObject([
    { type: 'Evicting', status: 'True', reason: 'Running' },
  ]);
});

const rows: [why: string, sample: Sample, mode: 'observe' | 'act', change: object | null][] = [
  [
    'a new one is held and marked',
    {},
    'act',
    { annotations: { [runIdAnnotation]: 'run-2', [bootIdAnnotation]: 'boot-2' }, finalizers: [evictionFinalizer] },
  ],
  [
    'other finalizers stay',
    { finalizers: ['example.com/other'] },
    'act',
    { annotations: expect.anything(), finalizers: ['example.com/other', evictionFinalizer] },
  ],
  [
    'a retry is taken up',
    { annotations: { [annotations.retry]: 'b', [retryHandledAnnotation]: 'a' } },
    'act',
    {
      annotations: { [runIdAnnotation]: 'run-2', [retryHandledAnnotation]: 'b', [bootIdAnnotation]: 'boot-2' },
      finalizers: [evictionFinalizer],
    },
  ],
  [
    'one that is held keeps the boot id from when it began',
    { finalizers: [evictionFinalizer], annotations: { [bootIdAnnotation]: 'boot-1', [runIdAnnotation]: 'run-1' } },
    'act',
    { annotations: { [runIdAnnotation]: 'run-2' } },
  ],
  [
    'one that is not held begins anew',
    { annotations: { [bootIdAnnotation]: 'boot-1', [runIdAnnotation]: 'run-1' } },
    'act',
    { annotations: { [runIdAnnotation]: 'run-2', [bootIdAnnotation]: 'boot-2' }, finalizers: [evictionFinalizer] },
  ],
  [
    'nothing is written twice',
    { finalizers: [evictionFinalizer], annotations: { [bootIdAnnotation]: 'boot-2', [runIdAnnotation]: 'run-2' } },
    'act',
    null,
  ],
  [
    'one that is observed is not held',
    {},
    'observe',
    { annotations: { [runIdAnnotation]: 'run-2', [bootIdAnnotation]: 'boot-2' } },
  ],
];

test.each(rows)('%s', (_why, sample, mode, change) => {
  expect(beginMetadata(sampleEviction(sample), mode, 'run-2', 'boot-2')).toEqual(change);
});

test('a host without a Node has no boot id', () => {
  expect(beginMetadata(sampleEviction(), 'act', 'run-2', null)?.annotations).toEqual({ [runIdAnnotation]: 'run-2' });
});
