import { serviceChanges } from '../../invariants/servers.ts';
import { violations } from '../../invariants/violations.ts';
import { breaks, eviction, good, move, serviceCall, t0, andThen, watchEvent, without } from './sample.ts';

/** Where servers are, and how they came there. */

breaks([
  ['a lost server', { servers: [], guests: {} }, /^invariant 2: server vm-1 \(s1\) is lost/],
  [
    'a server on no host',
    { servers: [{ ...good.servers[0]!, host: null }], guests: {} },
    /^invariant 2: .* is on no host/,
  ],
  [
    'a server left in another state',
    { servers: [{ ...good.servers[0]!, status: 'VERIFY_RESIZE' }] },
    /^invariant 2: .* is VERIFY_RESIZE and was ACTIVE/,
  ],
  [
    'a guest that Nova does not know',
    { guests: { 'node-1': 1, 'node-2': 1 } },
    /^invariant 2: host node-1 holds 1 guests, and Nova knows 0/,
  ],
  [
    'a server moved twice',
    { migrationEvents: [move(), move({ id: 2, targetHost: 'node-3' })] },
    /^invariant 3: server s1 was moved 2 times by Eviction node-1: migrations 1, 2/,
  ],
  [
    'a server moved on',
    { migrationEvents: [move(), move({ id: 2, sourceHost: 'node-2', targetHost: 'node-3' })] },
    /^invariant 3: server s1 had left by Eviction node-1 \(migration 1\) and was moved on: migrations 2$/,
  ],
  [
    'a server moved to a disabled host',
    { migrationEvents: [move({ id: 3, sourceHost: 'node-3', targetHost: 'node-1' })], ...without('Eviction') },
    /^invariant 4: migration 3 of server s1 \(completed\) went to node-1, which drover had disabled 4000 ms before/,
  ],
  [
    'a server on an emptied host',
    { servers: [...good.servers, { id: 's2', name: 'vm-2', status: 'ACTIVE', taskState: null, host: 'node-1' }] },
    /^invariant 5: Eviction node-1 says Succeeded, and on node-1 Nova has vm-2/,
  ],
  [
    'an allocation on an emptied host',
    { allocations: { 'node-1': ['s9'] } },
    /^invariant 5: .* Placement has allocations of s9/,
  ],
  [
    'a migration on an emptied host',
    { migrationEvents: [move({ status: 'running' })] },
    /^invariant 5: .* migrations 1 concern node-1/,
  ],
]);

test('a server that was moved cold is not as it was until that is confirmed', () => {
  const servers = [{ ...good.servers[0]!, status: 'VERIFY_RESIZE' }];
  const cold = move({ id: 2, atMs: t0 + 7_000, status: 'finished', sourceHost: 'node-2', targetHost: 'node-3' });
  expect(violations({ ...good, servers, migrationEvents: [...good.migrationEvents, cold] }).join()).not.toMatch(
    /VERIFY_RESIZE/,
  );
});

test('a guest that Nova does not know is fine where its server was deleted while it was moved live', () => {
  const lost = move({ id: 2, instanceId: 's9', status: 'error', targetHost: 'node-3' });
  const deleted = { id: 's9', name: 'vm-9', host: 'node-1', status: null };
  const world = { ...good, guests: { ...good.guests, 'node-3': 1 }, migrationEvents: [...good.migrationEvents, lost] };
  expect(violations(world).join()).toMatch(/host node-3 holds 1 guests/);
  expect(violations({ ...world, expectedServers: [...good.expectedServers, deleted] })).toEqual([]);
});

test('a server that came back may be moved again and listed again', () => {
  const back = [
    move(),
    move({ id: 2, atMs: t0 + 6_000, sourceHost: 'node-2', targetHost: 'node-1' }),
    move({ id: 3, atMs: t0 + 7_000 }),
  ];
  const world = { ...good, migrationEvents: back, novaCalls: [serviceCall({ timeMs: t0 + 6_300 })] };
  expect(violations({ ...world, ...andThen(watchEvent(eviction('Succeeded', { outstanding: ['s1'] }))) })).toEqual([]);
});
describe('a server that goes to a host which drover disabled from 0 to 0.2 s after the beginning', () => {
  const world = {
    ...good,
    ...without('Eviction'),
    migrationEvents: [
      ...good.migrationEvents,
      move({ id: 3, instanceId: 's3', atMs: t0 + 5_500, sourceHost: 'node-3', targetHost: 'node-1' }),
    ],
  };
  const change = (
    action: 'enabled' | 'disabled',
    [atMs, untilMs]: [number, number],
    userAgent: 'drover' | 'lab',
  ): (typeof good.novaCalls)[number] =>
    serviceCall({ timeMs: disable.timeMs + atMs, durationMs: untilMs - atMs, action, userAgent });
  const [disable] = good.novaCalls as [(typeof good.novaCalls)[number]];
  const beside = change('enabled', [-100, 500], 'lab');
  test.each<[what: string, later: typeof good.novaCalls, now: 'enabled' | 'disabled', isViolated: boolean]>([
    ['and no other user changed it', [], 'disabled', true],
    [
      'and was enabled again, whatever drover wrote down later',
      [change('enabled', [500, 600], 'lab')],
      'disabled',
      false,
    ],
    ['and drover enabled again', [change('enabled', [500, 600], 'drover')], 'enabled', false],
    ['and another user disabled', [change('disabled', [500, 600], 'lab')], 'disabled', false],
    ['and was enabled before', [change('enabled', [-300, -100], 'lab')], 'enabled', true],
    ['and another user enabled at the same time, and it is enabled', [beside], 'enabled', false],
    ['and another user enabled at the same time, and it is disabled', [beside], 'disabled', true],
    ['and drover itself enabled at the same time', [change('enabled', [-100, 500], 'drover')], 'enabled', true],
    [
      'and another user enabled at the same time, so that drover had to disable it again',
      [beside, change('disabled', [9_000, 9_100], 'drover')],
      'disabled',
      false,
    ],
    [
      'and another user enabled at the same time, and drover disabled twice at once',
      [beside, change('disabled', [100, 9_100], 'drover')],
      'disabled',
      true,
    ],
    [
      'and another user enabled at the same time, and later once more',
      [beside, change('enabled', [9_000, 9_100], 'lab')],
      'enabled',
      true,
    ],
  ])('%s', (_, later, status, isViolated) => {
    const services = good.services.map((service) => (service.host === 'node-1' ? { ...service, status } : service));
    const found = violations({ ...world, services, novaCalls: [disable, ...later] });
    expect(found.filter((sentence) => sentence.startsWith('invariant 4'))).toHaveLength(isViolated ? 1 : 0);
  });
});

test.each<[when: string, enabledMs: number, chosenMs: number, isViolated: boolean]>([
  ['before Nova chooses it', 5_600, 6_500, false],
  ['after Nova has chosen it', 6_600, 6_500, true],
])(
  'a disabled host is enabled %s for a migration that was accepted without a target',
  (_, enabledMs, chosenMs, isViolated) => {
    const toNode1 = { id: 3, instanceId: 's3', sourceHost: 'node-3' };
    const world = {
      ...good,
      ...without('Eviction'),
      migrationEvents: [
        ...good.migrationEvents,
        move({ ...toNode1, atMs: t0 + 5_500, status: 'accepted', targetHost: null }),
        move({ ...toNode1, atMs: t0 + chosenMs, status: 'queued', targetHost: 'node-1' }),
        move({ ...toNode1, atMs: t0 + 9_000, targetHost: 'node-1' }),
      ],
      novaCalls: [
        ...good.novaCalls,
        serviceCall({ timeMs: t0 + enabledMs, durationMs: 100, action: 'enabled', userAgent: 'lab' }),
      ],
    };
    const found = violations(world).filter((sentence) => sentence.startsWith('invariant 4'));
    expect(found).toHaveLength(isViolated ? 1 : 0);
  },
);

test('what Nova was asked of its services, and has done', () => {
  const services = [{ id: '1', host: 'node-1', status: 'enabled', disabledReason: null }] as const;
  const novaCalls = [
    serviceCall({ timeMs: t0 + 500, action: 'enabled', userAgent: 'lab' }),
    serviceCall({ timeMs: t0 }),
    serviceCall({ status: 503 }),
    serviceCall({ method: 'GET' }),
    serviceCall({ path: '/v2.1/os-services/2' }),
    serviceCall({ path: '/v2.1/servers/1/action', method: 'POST' }),
  ];
  expect(serviceChanges({ novaCalls, services })).toEqual([
    { host: 'node-1', atMs: t0 + 200, requestedMs: t0, answeredMs: t0 + 200, enabled: false, byDrover: true },
    { host: 'node-1', atMs: t0 + 500, requestedMs: t0 + 500, answeredMs: t0 + 700, enabled: true, byDrover: false },
  ]);
});
test('what concerns other hosts is theirs to check', () => {
  expect(
    violations({ ...good, hosts: ['node-3'], servers: [], guests: { 'node-1': 5 }, audit: [], novaCalls: [] }),
  ).toEqual([]);
});

test('the guest of a server that a user deleted while it arrived is Nova’s to reap', () => {
  const stranded = {
    ...good,
    expectedServers: [...good.expectedServers, { id: 's9', name: 'vm-9', host: 'node-2', status: null }],
    migrationEvents: [
      ...good.migrationEvents,
      move({ id: 9, instanceId: 's9', sourceHost: 'node-2', targetHost: 'node-3', status: 'error' }),
    ],
    guests: { 'node-2': 1, 'node-3': 1 },
  };
  expect(violations(stranded)).toEqual([]);
  const twice = { ...stranded, guests: { ...stranded.guests, 'node-3': 2 } };
  expect(violations(twice)).toEqual([expect.stringMatching(/^invariant 2: host node-3 holds 2 guests/u)]);
  const there = { ...stranded, expectedServers: good.expectedServers };
  expect(violations(there)).toEqual([expect.stringMatching(/^invariant 2: host node-3 holds 1 guests/u)]);
});
