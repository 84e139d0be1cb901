import type { Migration } from '../../contracts/eviction/instance.ts';
import { instanceDetail, migrationRecord } from '../../test/fixtures/activities/nova.ts';
import { type MoveKind, type StartDecision, decideStart } from './start-migration.ts';
import type { InstanceDetail } from './types.ts';

const source = 'source';
const server = (change: Partial<InstanceDetail> = {}): InstanceDetail => instanceDetail({ host: source, ...change });
const live = (status: string, change: Partial<Migration> = {}): Migration =>
  migrationRecord({ id: 7, type: 'live-migration', status, sourceHost: source, ...change });
const cold = (status: string, change: Partial<Migration> = {}): Migration =>
  migrationRecord({ id: 7, type: 'migration', status, sourceHost: source, ...change });

type Row = [
  why: string,
  kind: MoveKind,
  instance: InstanceDetail | null,
  migrations: Migration[],
  known: number[] | null,
  decision: StartDecision['do'],
];
const rows: Row[] = [
  ['at rest on its source', 'live', server(), [], null, 'request'],
  ['a paused one moves live', 'live', server({ vmState: 'paused' }), [], null, 'request'],
  ['what is over does not matter', 'live', server(), [live('error'), live('completed', { id: 3 })], null, 'request'],
  ['gone', 'live', null, [], null, 'giveBack'],
  ['elsewhere already', 'live', server({ host: 'target' }), [], null, 'giveBack'],
  ['a stopped one does not move live', 'live', server({ vmState: 'stopped' }), [], null, 'giveBack'],
  ['nor does one in ERROR', 'live', server({ vmState: 'error' }), [], null, 'giveBack'],
  ['busy with something else', 'live', server({ taskState: 'rebooting' }), [], null, 'giveBack'],
  ['being deleted', 'live', server({ taskState: 'deleting' }), [], null, 'giveBack'],
  ['on its way: whichever client asked', 'live', server({ taskState: 'migrating' }), [live('running')], null, 'adopt'],
  ['on its target, but the record still runs', 'live', server({ host: 'target' }), [live('running')], null, 'adopt'],
  ['asked for, and no record yet', 'live', server({ taskState: 'migrating' }), [], null, 'awaitRecord'],
  [
    'on its way from somewhere else',
    'live',
    server({ taskState: 'migrating' }),
    [live('running', { sourceHost: 'other' })],
    null,
    'giveBack',
  ],
  [
    'moving cold is not moving live',
    'live',
    server({ taskState: 'resize_migrating' }),
    [cold('migrating')],
    null,
    'giveBack',
  ],
  [
    'an acknowledgement was lost: its record is found',
    'live',
    server({ taskState: 'migrating' }),
    [live('running')],
    [],
    'adopt',
  ],
  ['even when it has ended since', 'live', server(), [live('error')], [], 'adopt'],
  ['an older failure is not it', 'live', server(), [live('error')], [7], 'request'],
  ['a stopped one moves cold', 'cold', server({ vmState: 'stopped' }), [], null, 'request'],
  ['a running one too, with consent', 'cold', server(), [], null, 'request'],
  ['a paused one does not', 'cold', server({ vmState: 'paused' }), [], null, 'giveBack'],
  [
    "another client's cold migration is not ours to confirm",
    'cold',
    server({ taskState: 'resize_migrating' }),
    [cold('migrating')],
    null,
    'giveBack',
  ],
  [
    'nor is one that waits for confirmation',
    'cold',
    server({ host: 'target', vmState: 'resized' }),
    [cold('finished')],
    null,
    'giveBack',
  ],
  [
    'ours, by what the first attempt left behind',
    'cold',
    server({ taskState: 'resize_migrating' }),
    [cold('migrating')],
    [3],
    'adopt',
  ],
  [
    'ours, and finished meanwhile',
    'cold',
    server({ host: 'target', vmState: 'resized' }),
    [cold('finished')],
    [],
    'adopt',
  ],
  [
    'not ours: it was there before',
    'cold',
    server({ taskState: 'resize_migrating' }),
    [cold('migrating')],
    [7],
    'giveBack',
  ],
  ['ours, and no record yet', 'cold', server({ taskState: 'resize_prep' }), [], [], 'awaitRecord'],
  ["another client's, and no record yet", 'cold', server({ taskState: 'resize_prep' }), [], null, 'giveBack'],
  [
    'a resize is no cold migration',
    'cold',
    server({ taskState: 'resize_migrating' }),
    [cold('migrating', { type: 'resize' })],
    [],
    'giveBack',
  ],
];

const nowMs = Date.parse('2026-01-01T00:01:00Z');

test.each(rows)('%s', (_why, kind, instance, migrations, known, decision) => {
  expect(decideStart(kind, { sourceHost: source }, { instance, migrations }, known, nowMs).do).toBe(decision);
});

describe('a record that no nova-compute works on', () => {
  const hourLaterMs = nowMs + 3_600_000;
  const decide = (instance: InstanceDetail, migration: Migration): string =>
    decideStart('live', { sourceHost: source }, { instance, migrations: [migration] }, null, hourLaterMs).do;
  test('of a server without a task keeps it from nothing', () =>
    expect(decide(server(), live('queued'))).toBe('request'));
  test('nor does that of a resize whose server an operator has reset', () => {
    expect(decide(server(), cold('finished'))).toBe('request');
    expect(decide(server(), cold('finished', { type: 'resize' }))).toBe('request');
  });
  test('counts while the resize waits for its owner', () =>
    expect(decide(server({ vmState: 'resized' }), cold('finished'))).toBe('giveBack'));
  test('counts while the server has its task', () =>
    expect(decide(server({ taskState: 'migrating' }), live('queued'))).toBe('adopt'));
  test('counts while Nova writes it', () =>
    expect(decide(server(), live('running', { updatedAt: '2026-01-01T01:00:30Z' }))).toBe('adopt'));
});

test.each([
  [true, 'request'],
  [false, 'giveBack'],
])('a server that is locked by now, and may be moved all the same: %j', (mayMoveLocked, decision) => {
  const history = { instance: server({ locked: true }), migrations: [] };
  expect(decideStart('live', { sourceHost: source, mayMoveLocked }, history, null, nowMs).do).toBe(decision);
});
