import type { Answer, EvictionObject, EvictionRun } from './eviction-objects.ts';
import { listEvictions, renderList } from './ls.ts';
import { plain } from '../render/paint.ts';
import { ago, now, sampleProgress } from '../../test/fixtures/starters/progress.ts';
import { sampleEviction } from '../../test/fixtures/starters/eviction.ts';

const run = (host: string, facts: Partial<EvictionRun> = {}): EvictionRun => ({
  workflowId: `eviction/${host}`,
  runId: `run-${host}`,
  host,
  status: 'Running',
  startedAt: ago(300),
  endedAt: null,
  phase: 'Moving',
  reason: null,
  ...facts,
});
const ended = (host: string, seconds: number, facts: Partial<EvictionRun> = {}) =>
  run(host, {
    status: 'Completed',
    endedAt: ago(seconds),
    phase: 'Succeeded',
    reason: 'Succeeded',
    runId: `${host}-${String(seconds)}`,
    ...facts,
  });
const object = (name: string, facts: Partial<EvictionObject> = {}): EvictionObject =>
  sampleEviction({ name, uid: `uid-${name}`, host: name, annotations: { 'drover.dev/started-by': 'bob' }, ...facts });
const evicting = (reason: string, message: string) => [
  { type: 'Evicting', status: 'False' as const, reason, message, lastTransitionTime: ago(1) },
];

interface World {
  runs?: EvictionRun[];
  answers?: Record<string, Answer>;
  objects?: EvictionObject[];
  recentMs?: number;
}
const list = ({ runs = [], answers = {}, objects = [], recentMs = 86_400_000 }: World) =>
  listEvictions({ runs, answers: new Map(Object.entries(answers)), objects, nowMs: now, recentMs });

const brief = (world: World) =>
  list(world).map(({ host, state, phase, reason, startedBy }) => [host, state, phase, reason, startedBy]);

test.each<[why: string, run: EvictionRun, expected: string | null]>([
  ['that the run wrote its id into', ended('node-1', 600, { runId: 'first' }), 'node-1'],
  ['of the later run', ended('node-1', 60, { runId: 'second' }), 'node-1-later'],
  ['made last before the end of a run that has continued as new', ended('node-1', 60), 'node-1-later'],
  ['made before the first end', ended('node-1', 600), 'node-1'],
  ['none: each was made after it', ended('node-1', 5_000), null],
])('an ended run has its own Eviction: %s', (_why, one, expected) => {
  const objects = [
    object('node-1', { createdAt: ago(900), annotations: { 'drover.dev/run-id': 'first' }, reconciled: true }),
    object('node-1-later', {
      host: 'node-1',
      createdAt: ago(300),
      annotations: { 'drover.dev/run-id': 'second' },
      reconciled: true,
    }),
  ];
  expect(list({ runs: [one], objects })).toMatchObject([{ eviction: expected }]);
});

test.each<[why: string, world: World, rows: unknown[][]]>([
  ['nothing', {}, []],
  [
    'a run answers for itself',
    {
      runs: [run('node-1')],
      answers: { 'run-node-1': sampleProgress({ waitingFor: 'room on some target' }) },
      objects: [object('node-1')],
    },
    [['node-1', 'running', 'Moving', 'room on some target', 'alice@ops']],
  ],
  [
    'a run that no worker answers for',
    { runs: [run('node-1')], objects: [object('node-1')] },
    [['node-1', 'running', 'Moving', 'no worker answers', 'bob']],
  ],
  [
    'hosts in their natural order',
    { runs: [run('node-10'), run('node-2')] },
    [
      ['node-2', 'running', 'Moving', 'no worker answers', null],
      ['node-10', 'running', 'Moving', 'no worker answers', null],
    ],
  ],
  [
    'an Eviction without a run waits',
    { objects: [object('node-1')] },
    [['node-1', 'waiting', 'Waiting', 'no run has begun', 'bob']],
  ],
  [
    'a second Eviction for the host waits and says so',
    {
      runs: [run('node-1')],
      answers: { 'run-node-1': sampleProgress() },
      objects: [
        object('node-1'),
        object('again', { host: 'node-1', conditions: evicting('AlreadyRunning', 'Eviction node-1 is running') }),
      ],
    },
    [
      ['node-1', 'running', 'Moving', null, 'alice@ops'],
      ['node-1', 'waiting', 'Waiting', 'AlreadyRunning: Eviction node-1 is running', 'bob'],
    ],
  ],
  ['a reconciled Eviction does not', { objects: [object('node-1', { reconciled: true })] }, []],
  [
    'the last end of each host',
    { runs: [ended('node-1', 600), ended('node-1', 60, { phase: 'Failed', reason: 'Failed' })] },
    [['node-1', 'ended', 'Failed', 'Failed', null]],
  ],
  [
    'ends of a host that runs again are history',
    { runs: [ended('node-1', 60), run('node-1')] },
    [['node-1', 'running', 'Moving', 'no worker answers', null]],
  ],
  ['old ends are left out', { runs: [ended('node-1', 90_000)] }, []],
  [
    'unless all are wanted',
    { runs: [ended('node-1', 90_000), ended('node-1', 60)], recentMs: Infinity },
    [
      ['node-1', 'ended', 'Succeeded', 'Succeeded', null],
      ['node-1', 'ended', 'Succeeded', 'Succeeded', null],
    ],
  ],
  [
    'a terminated run says that',
    { runs: [ended('node-1', 60, { status: 'Terminated', phase: 'Moving', reason: null })] },
    [['node-1', 'ended', 'Terminated', null, null]],
  ],
])('%s', (_why, world, rows) => {
  expect(brief(world)).toEqual(rows);
});

test('the table', () => {
  const evictions = list({
    runs: [run('node-1'), ended('node-2', 90)],
    answers: { 'run-node-1': sampleProgress({ deadline: '2026-01-31T12:01:20Z' }) },
  });
  expect(renderList(evictions, now, plain, 200)).toEqual([
    'HOST    KIND      DONE  BLOCKED  OLDEST WAIT     ETA  MARGIN  STARTED BY  PHASE      WHY',
    'node-1  Eviction   1/4        1       4m 10s  6m 20s     -5m  alice@ops   Moving',
    'node-2  Eviction     -        -            -       -       -  -           Succeeded  1m 30s ago',
  ]);
  expect(renderList([], now, plain, 80)).toHaveLength(1);
});
