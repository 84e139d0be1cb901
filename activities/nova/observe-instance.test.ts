import type { Migration } from '../../contracts/eviction/instance.ts';
import { instanceDetail, migrationRecord, stubClient } from '../../test/fixtures/activities/nova.ts';
import { withoutAbandoned } from './judge-migration.ts';
import { observationOf } from './observe-instance.ts';
import type { InstanceDetail, NovaClient } from './types.ts';

/** Records that Nova leaves as they are when a nova-compute is restarted, or a server's state is reset. */

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const never = new AbortController().signal;

type Row = [why: string, migration: Partial<Migration>, server: Partial<InstanceDetail> | null, counts: boolean];
const rows: Row[] = [
  ['one of a server with a task counts, however old', {}, { taskState: 'migrating' }, true],
  ['one of a server without a task is not in progress', {}, {}, false],
  ['unless Nova has written it a moment ago', { updatedAt: '2026-01-01T00:55:00Z' }, {}, true],
  ['or it was made a moment ago', { createdAt: '2026-01-01T00:59:00Z' }, {}, true],
  ['one that was queued when its nova-compute died, too', { status: 'queued' }, {}, false],
  [
    'a cold one waits for its owner as long as it likes',
    { type: 'migration', status: 'finished' },
    { vmState: 'resized' },
    true,
  ],
  ['a resize too', { type: 'resize', status: 'finished' }, { vmState: 'resized' }, true],
  ['one that is confirmed', { type: 'migration', status: 'confirming' }, { vmState: 'resized' }, true],
  ['one on its way back', { type: 'resize', status: 'reverting' }, { vmState: 'resized' }, true],
  ['one whose server was reset waits for nobody', { type: 'migration', status: 'finished' }, {}, false],
  ['nor does its resize', { type: 'resize', status: 'finished' }, { vmState: 'stopped' }, false],
  [
    'unless that was a moment ago',
    { type: 'migration', status: 'finished', updatedAt: '2026-01-01T00:55:00Z' },
    {},
    true,
  ],
  ['a cold one that a restart has cut off is over', { type: 'migration', status: 'migrating' }, {}, false],
  [
    'an older one of a resized server, too',
    { type: 'migration', status: 'pre-migrating' },
    { vmState: 'resized' },
    false,
  ],
  ['an evacuation is its host’s failure to end', { type: 'evacuation', status: 'accepted' }, {}, true],
];

test.each(rows)('%s', async (_why, migration, server, counts) => {
  const record = migrationRecord(migration);
  const instance = instanceDetail(server ?? {});
  expect(observationOf({ instance, migrations: [record] }, nowMs).migration).toEqual(counts ? record : null);
  const nova = stubClient<NovaClient>({ server: async () => instance });
  expect(await withoutAbandoned(nova, [record], nowMs, never)).toEqual(counts ? [record] : []);
});

test('one whose server is gone is over', async () => {
  const nova = stubClient<NovaClient>({ server: async () => null });
  expect(await withoutAbandoned(nova, [migrationRecord()], nowMs, never)).toEqual([]);
});

test('only those that were not written for long are asked about', async () => {
  const young = migrationRecord({ createdAt: '2026-01-01T00:59:00Z' });
  expect(await withoutAbandoned(stubClient<NovaClient>({}), [young], nowMs, never)).toEqual([young]);
});
