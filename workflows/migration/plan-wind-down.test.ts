import type { Progress } from './plan.ts';
import { planWindDown } from './plan-wind-down.ts';
import { cold, ended, finished, live, noProgress, resized, server } from '../../test/fixtures/workflows/migration.ts';

type Row = [why: string, progress: Partial<Progress>, move: object];
const seen = (instance: object | null, migration: Progress['observation']['migration'] = null): Partial<Progress> => ({
  observation: { instance: instance === null ? null : { ...server, ...instance }, migration },
});
const rows: Row[] = [
  ['a server that is gone is gone', seen(null), { do: 'end', outcome: 'gone', message: null }],
  ['a live migration is aborted', seen({}, live), { do: 'abort', migration: live }],
  [
    'one that arrives is none of this run’s',
    seen({}, { ...live, sourceHost: 'node-9' }),
    { do: 'end', outcome: 'stopped', message: 'the eviction was stopped' },
  ],
  ['a cold one runs to its end', seen({}, cold), { do: 'awaitMigration', migration: cold }],
  [
    'but is not waited for again once it is stuck',
    { ...seen({}, cold), lastEnd: ended({ stuck: 'TooLong' }) },
    { do: 'end', outcome: 'stopped', message: expect.stringMatching(/migration 7 is stuck/) as string },
  ],
  [
    'and is confirmed where it is drover’s own',
    { ...seen(resized, finished), ownCold: 7 },
    { do: 'confirm', migrationId: 7 },
  ],
  ['not where it is a stranger’s', seen(resized, finished), { do: 'end', outcome: 'moved', message: null }],
  ['a server that arrived has moved', seen({ host: 'node-2' }), { do: 'end', outcome: 'moved', message: null }],
  ['one that did not stays', seen({}), { do: 'end', outcome: 'stopped', message: 'the eviction was stopped' }],
];

test.each(rows)('%s', (_why, progress, move) => {
  expect(planWindDown({ sourceHost: 'node-1' }, { ...noProgress, ...progress })).toEqual(move);
});
