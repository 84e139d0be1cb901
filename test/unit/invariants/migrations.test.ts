import { violations } from '../../invariants/violations.ts';
import { breaks, good, move, moveRun, serviceCall, t0 } from './sample.ts';

/** How many migrations there are, and whose. */

const novaCall = (instanceId: string, action: string, afterMs: number, userAgent = 'drover') =>
  serviceCall({
    method: 'POST',
    path: `/v2.1/servers/${instanceId}/action`,
    action,
    status: 202,
    timeMs: t0 + afterMs,
    userAgent,
  });
const migrations = (id: number, instanceId: string, ...statuses: [afterMs: number, status: string][]) =>
  statuses.map(([afterMs, status]) => move({ id, instanceId, status, atMs: t0 + afterMs }));

const two = {
  expectedServers: [],
  migrationEvents: [
    ...migrations(1, 's1', [2_000, 'running']),
    ...migrations(2, 's2', [3_000, 'running'], [5_000, 'completed']),
    ...migrations(1, 's1', [6_000, 'completed']),
  ],
};
const calls = [...good.novaCalls, novaCall('s1', 'os-migrateLive', 1_900), novaCall('s2', 'os-migrateLive', 2_900)];
const strangers = [novaCall('s1', 'migrate', 1_900, 'a user'), novaCall('s1', 'confirmResize', 2_900)];

/** Another server, which has moved cold, and is in VERIFY_RESIZE. */
const unconfirmed = (starter: string) => ({
  migrationEvents: [
    ...good.migrationEvents,
    ...migrations(2, 's2', [6_000, 'pre-migrating'], [7_000, 'finished']).map((event) => ({
      ...event,
      type: 'migration',
      sourceHost: 'node-2',
      targetHost: 'node-3',
    })),
  ],
  novaCalls: [...good.novaCalls, novaCall('s2', 'migrate', 5_900, starter)],
});

breaks([
  [
    'more migrations than the region may have',
    { ...two, novaCalls: calls },
    /^invariant 20: migration 2 makes 2 of drover’s at once \(1, 2\), and the region may have 1$/,
  ],
  [
    'a resize of another user that drover confirms',
    { novaCalls: [...good.novaCalls, ...strangers] },
    /^invariant 21: drover confirmed a resize of server s1 that a user has begun, and no user has accepted that$/,
  ],
  [
    'a cold migration of drover’s that is left unconfirmed',
    unconfirmed('drover'),
    /^invariant 21: migration 2 of server s2, which drover has begun, is not confirmed, and no run is about to$/,
  ],
]);

test.each([
  ['as many as the region may have', { ...two, novaCalls: calls, migrationsPerRegion: 2 }],
  ['a limit that is not known', { ...two, novaCalls: calls, migrationsPerRegion: null }],
  [
    'one of drover’s beside one of a user',
    { ...two, novaCalls: [...calls, novaCall('s1', 'os-migrateLive', 1_950, 'a user')] },
  ],
  [
    'one that begins when the other awaits its confirmation',
    {
      ...two,
      novaCalls: calls,
      migrationEvents: two.migrationEvents.flatMap((event) => [
        event,
        ...(event.id === 1 && event.status === 'running' ? [{ ...event, status: 'finished', atMs: t0 + 2_500 }] : []),
      ]),
    },
  ],
  [
    'a confirmation of what drover has begun',
    { novaCalls: [...good.novaCalls, novaCall('s1', 'migrate', 1_900), novaCall('s1', 'confirmResize', 2_900)] },
  ],
  [
    'one that a user has accepted',
    {
      novaCalls: [...good.novaCalls, ...strangers],
      runs: [moveRun({ input: { instance: { id: 's1' }, accepted: true } })],
    },
  ],
  ['a cold migration of another user that is not confirmed', unconfirmed('a user')],
  ['one of drover’s that is about to be confirmed, between two steps', { ...unconfirmed('drover'), isQuiet: false }],
  [
    'one of drover’s that a run sees to',
    {
      ...unconfirmed('drover'),
      runs: [
        ...good.runs,
        moveRun({
          workflowId: 'migration/s2',
          runId: 'r3',
          status: 'RUNNING',
          closedAtMs: null,
          input: { instance: { id: 's2' } },
        }),
      ],
    },
  ],
  [
    'one of drover’s whose run a user has terminated',
    {
      ...unconfirmed('drover'),
      runs: [
        ...good.runs,
        moveRun({ workflowId: 'migration/s2', runId: 'r3', status: 'TERMINATED', input: { instance: { id: 's2' } } }),
      ],
    },
  ],
  [
    'one of drover’s that is confirmed',
    {
      ...unconfirmed('drover'),
      migrationEvents: [
        ...unconfirmed('drover').migrationEvents,
        move({ id: 2, instanceId: 's2', type: 'migration', status: 'confirmed', atMs: t0 + 8_000 }),
      ],
    },
  ],
])('%s is fine', (_why, change) => {
  expect(violations({ ...good, ...change })).toEqual([]);
});
