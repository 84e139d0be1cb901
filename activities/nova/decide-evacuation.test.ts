import { decideEvacuation } from './decide-evacuation.ts';
import { instanceDetail, migrationRecord } from '../../test/fixtures/activities/nova.ts';
import type { InstanceDetail } from './types.ts';

const off = (id: number, status: string, change = {}) => migrationRecord({ id, type: 'evacuation', status, ...change });

type Row = [
  what: string,
  instance: Partial<InstanceDetail> | null,
  migrations: ReturnType<typeof off>[],
  known: number[] | null,
  decision: object,
];
const rows: Row[] = [
  ['a server that is gone', null, [], null, { do: 'giveBack' }],
  ['one that runs on the dead host', {}, [], null, { do: 'request' }],
  ['one that is stopped', { vmState: 'stopped' }, [], null, { do: 'request' }],
  ['one that an earlier evacuation left in ERROR', { vmState: 'error' }, [off(1, 'error')], null, { do: 'request' }],
  ['one that Nova does not evacuate', { vmState: 'paused' }, [], null, { do: 'giveBack' }],
  ['one that is in another task', { taskState: 'powering-off' }, [], null, { do: 'giveBack' }],
  ['one whose request Nova has taken', { taskState: 'rebuilding' }, [], null, { do: 'awaitRecord' }],
  ['one that is elsewhere', { host: 'node-2' }, [off(1, 'done')], null, { do: 'giveBack' }],
  [
    'one that is on its way, whoever asked for it',
    { taskState: 'rebuilding' },
    [off(1, 'pre-migrating')],
    null,
    { do: 'adopt', migration: expect.objectContaining({ id: 1 }) },
  ],
  [
    'one that drover’s own request has moved',
    { host: 'node-2' },
    [off(2, 'done')],
    [1],
    { do: 'adopt', migration: expect.objectContaining({ id: 2 }) },
  ],
  [
    'one whose own evacuation has failed: its end is the answer',
    { vmState: 'error' },
    [off(2, 'error')],
    [],
    { do: 'adopt', migration: expect.objectContaining({ id: 2 }) },
  ],
  ['one whose request was lost', {}, [off(1, 'error')], [1], { do: 'request' }],
  [
    'one that is evacuated off another host',
    { host: 'node-1' },
    [off(1, 'done', { sourceHost: 'node-3' })],
    [],
    { do: 'request' },
  ],
  [
    'one whose live migration died with its host',
    {},
    [migrationRecord({ id: 1, status: 'running' })],
    null,
    { do: 'request' },
  ],
];
test.each(rows)('%s', (_, instance, migrations, known, decision) => {
  expect(
    decideEvacuation('node-1', { instance: instance === null ? null : instanceDetail(instance), migrations }, known),
  ).toEqual(decision);
});
