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
])('%s is fine', (_why, change) => {
  expect(violations({ ...good, ...change })).toEqual([]);
});
