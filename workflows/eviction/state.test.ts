import { emptyHost, evictionOf, hostWith, server, theOnly } from '../../test/fixtures/workflows/eviction.ts';
import { live } from '../../test/fixtures/workflows/migration.ts';
import {
  disabledReasonOf,
  enterState,
  mayConfirmResize,
  blockByObstacles,
  applyEviction,
  applyMoveResult,
  applyPreflight,
  mayMoveLocked,
  outstandingRamMiB,
  remains,
  applyHost,
  requestStop,
} from './state.ts';

describe('what a look at the host changes', () => {
  test('a late arrival joins and is moved too (H9)', () => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moved', 2_000);
    applyHost(state, hostWith(server('b')), 3_000);
    expect(state.instances['b']?.state).toBe('pending');
  });
  test('a server that comes back is moved again', () => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moved', 2_000);
    applyHost(state, hostWith(server('a')), 3_000);
    expect(theOnly(state)).toMatchObject({ state: 'pending', message: 'came back to the host' });
  });
  test('a blocked server that left by itself is gone', () => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'blocked', 2_000, 'locked');
    applyHost(state, emptyHost, 3_000);
    expect(theOnly(state).state).toBe('gone');
  });
  test('an unconfirmed resize still holds its old disks on the host', () => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'blocked', 2_000, 'resized');
    applyHost(state, { ...emptyHost, unconfirmedResizes: ['a'] }, 3_000);
    expect(theOnly(state).state).toBe('blocked');
    expect(remains(state.host!)).toEqual(['1 unconfirmed resize']);
  });
  test('a server that left by a resize joins where a user has accepted that it is confirmed', () => {
    const away = { ...emptyHost, unconfirmedResizes: ['a'], resizedAway: [server('a', { host: 'node-2' })] };
    const state = evictionOf(away);
    expect(state.instances).toEqual({});
    applyEviction(state, { ...state.desired, acceptedObstacles: ['UnconfirmedResize/b'] }, 2_000);
    expect(state.instances).toEqual({});
    applyEviction(state, { ...state.desired, acceptedObstacles: ['UnconfirmedResize/a'] }, 2_000);
    expect(theOnly(state)).toMatchObject({ state: 'pending', instance: { host: 'node-2' } });
    // Its owner was faster.
    applyHost(state, emptyHost, 3_000);
    expect(theOnly(state).state).toBe('gone');
    applyHost(state, away, 4_000);
    expect(theOnly(state).state).toBe('pending');
    enterState(theOnly(state), 'moved', 5_000);
    applyHost(state, emptyHost, 6_000);
    expect(theOnly(state).state).toBe('moved');
  });
  test('a guest that libvirt alone knows of keeps the host from being empty, and is named', () => {
    const guest = (number: number) => ({ id: `id-${number}`, name: `instance-${number}` });
    const state = evictionOf(emptyHost, 1_000);
    applyHost(state, { ...emptyHost, unknownGuests: [guest(1)] }, 2_000);
    expect(state.emptySinceMs).toBeNull();
    expect(remains(state.host!)).toEqual(['1 guest that libvirt runs and Nova does not have there (instance-1, id-1)']);
    applyHost(state, { ...emptyHost, unknownGuests: [1, 2, 3, 4].map(guest) }, 3_000);
    expect(remains(state.host!)[0]).toMatch(/^4 guests .*instance-3, id-3 and 1 more\)$/u);
    applyHost(state, { ...emptyHost, unknownGuests: [] }, 4_000);
    expect(state.emptySinceMs).toBe(4_000);
  });
  test('empty counts from the first look of an unbroken row', () => {
    const state = evictionOf(emptyHost, 1_000);
    applyHost(state, emptyHost, 2_000);
    expect(state.emptySinceMs).toBe(1_000);
    applyHost(state, hostWith(server('a')), 3_000);
    applyHost(state, emptyHost, 4_000);
    expect(state.emptySinceMs).toBe(4_000);
  });
});

describe('what the end of a move changes', () => {
  type Row = [outcome: 'moved' | 'gone' | 'nonMigratable' | 'stopped', state: string, ramMiB: number];
  const rows: Row[] = [
    ['moved', 'moved', 0],
    ['gone', 'gone', 0],
    ['nonMigratable', 'blocked', 512],
    ['stopped', 'pending', 512],
  ];
  test.each(rows)('%s makes it %s', (outcome, its, ramMiB) => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moving', 1_000);
    applyMoveResult(
      state,
      'a',
      { outcome, targetHost: outcome === 'moved' ? 'node-2' : null, attempts: 2, message: 'why', inFlight: null },
      5_000,
    );
    expect(theOnly(state)).toMatchObject({ state: its, attempts: 2, target: outcome === 'moved' ? 'node-2' : null });
    expect(outstandingRamMiB(state)).toBe(ramMiB);
  });
  test('any of them shows that Nova answers again', () => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moving', 1_000);
    state.problem = { reason: 'NovaUnavailable', message: 'Nova is away', failures: 3, retryAtMs: 2_000, kind: 'step' };
    applyMoveResult(
      state,
      'a',
      { outcome: 'nonMigratable', targetHost: null, attempts: 1, message: 'why', inFlight: null },
      5_000,
    );
    expect(state.problem).toBeNull();
  });
});

describe('a server that was found locked when it was to move', () => {
  const obstacle = { id: 'InstanceLocked/a', code: 'InstanceLocked', instanceId: 'a', message: 'a: locked' } as const;
  const locked = {
    outcome: 'nonMigratable',
    targetHost: null,
    attempts: 0,
    message: 'a: locked',
    inFlight: null,
  } as const;
  const found = (): ReturnType<typeof evictionOf> => {
    const state = evictionOf(hostWith(server('a')));
    applyMoveResult(state, 'a', { ...locked, obstacle }, 5_000);
    return state;
  };
  test('has an obstacle, once', () => {
    const state = found();
    applyMoveResult(state, 'a', { ...locked, obstacle }, 6_000);
    expect(state.obstacles).toEqual([obstacle]);
    expect(theOnly(state)).toMatchObject({ state: 'blocked' });
    expect(mayMoveLocked(state, 'a')).toBe(false);
  });
  test('goes on when a user accepts that', () => {
    const state = found();
    applyEviction(state, { ...state.desired, acceptedObstacles: [obstacle.id] }, 6_000);
    expect(theOnly(state)).toMatchObject({ state: 'pending' });
    expect(mayMoveLocked(state, 'a')).toBe(true);
  });
  test('goes on where a user has accepted that meanwhile', () => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moving', 1_000);
    applyEviction(state, { ...state.desired, acceptedObstacles: [obstacle.id] }, 2_000);
    applyMoveResult(state, 'a', { ...locked, obstacle }, 5_000);
    expect(theOnly(state)).toMatchObject({ state: 'pending', message: null });
    expect(state.obstacles).toEqual([obstacle]);
  });
  test('has none any more when it has left the host by itself, and others keep theirs', () => {
    const state = found();
    const other = { ...obstacle, id: 'InstanceLocked/b', instanceId: 'b' } as const;
    state.obstacles.push(other);
    applyHost(state, hostWith(server('b')), 6_000);
    expect(state.instances['a']).toMatchObject({ state: 'gone' });
    expect(state.obstacles).toEqual([other]);
  });
  test('has none any more when it is found deleted', () => {
    const state = found();
    applyMoveResult(state, 'a', { ...locked, outcome: 'gone', message: null }, 6_000);
    expect(state.obstacles).toEqual([]);
  });
  test('has that of its resize when that is found after it had left', () => {
    const state = found();
    applyHost(state, emptyHost, 6_000);
    const unconfirmed = { ...obstacle, id: 'UnconfirmedResize/a', code: 'UnconfirmedResize' } as const;
    const away = { ...emptyHost, unconfirmedResizes: ['a'], resizedAway: [server('a', { host: 'node-2' })] };
    applyPreflight(state, { host: away, obstacles: [unconfirmed], notes: [] }, 7_000);
    expect(state.obstacles).toEqual([unconfirmed]);
  });
  test('has none any more when it has moved, unlocked', () => {
    const state = found();
    applyMoveResult(state, 'a', { ...locked, outcome: 'moved', targetHost: 'node-2', message: null }, 6_000);
    expect(state.obstacles).toEqual([]);
  });
});

describe('a migration that does not end', () => {
  const left = (): ReturnType<typeof evictionOf> => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moving', 1_000);
    const result = { outcome: 'nonMigratable', targetHost: null, attempts: 1, message: 'why', inFlight: 7 } as const;
    applyMoveResult(state, 'a', result, 5_000);
    return state;
  };
  test.each([
    ['blocked', 'the eviction goes on', false],
    ['pending', 'the eviction is stopped, too', true],
  ] as const)('is %s when a user cancels the run of its server and %s', (its, _why, isStopped) => {
    const state = evictionOf(hostWith(server('a')));
    enterState(theOnly(state), 'moving', 1_000);
    if (isStopped) requestStop(state, 'jane', 2_000);
    const result = { outcome: 'stopped', targetHost: null, attempts: 1, message: 'why', inFlight: 7 } as const;
    applyMoveResult(state, 'a', result, 5_000);
    expect(theOnly(state)).toMatchObject({ state: its, message: 'why', inFlight: 7 });
  });
  test('holds its slot while Nova shows it', () => {
    const state = left();
    applyHost(state, { ...hostWith(server('a')), migrations: [{ ...live, id: 7 }] }, 6_000);
    expect(theOnly(state)).toMatchObject({ state: 'blocked', message: 'why', inFlight: 7 });
  });
  test('no longer, and then says so', () => {
    const state = left();
    applyHost(state, hostWith(server('a')), 6_000);
    expect(theOnly(state)).toMatchObject({ state: 'blocked', inFlight: null });
    expect(theOnly(state).message).toMatch(/migration 7 is over since/);
  });
  test('or until a user has it tried again', () => {
    const state = left();
    enterState(theOnly(state), 'pending', 6_000);
    expect(theOnly(state).inFlight).toBeNull();
  });
  test('is not tried again by a further preflight', () => {
    const state = left();
    const host = { ...hostWith(server('a')), migrations: [{ ...live, id: 7 }] };
    applyPreflight(state, { host, obstacles: [], notes: [] }, 6_000);
    expect(theOnly(state).state).toBe('blocked');
  });
});

test('a further preflight lets what was blocked be tried again, but what it blocks itself', () => {
  const state = evictionOf(hostWith(server('a'), server('b')));
  for (const one of Object.values(state.instances)) enterState(one, 'blocked', 1_000, 'did not move');
  const vgpu = { id: 'Vgpu/a', code: 'Vgpu', instanceId: 'a', message: 'has a vGPU' } as const;
  applyPreflight(state, { host: hostWith(server('a'), server('b')), obstacles: [vgpu], notes: [] }, 6_000);
  expect(state.instances['a']).toMatchObject({ state: 'blocked', message: 'has a vGPU' });
  expect(state.instances['b']).toMatchObject({ state: 'pending', message: 'did not move' });
  expect(state).toMatchObject({ preflights: 1, preflightAtMs: 6_000 });
});

test('since when the host is disabled is known from the first observation of an unbroken row', () => {
  const state = evictionOf(emptyHost, 1_000);
  applyHost(state, emptyHost, 2_000);
  expect(state.disabledSinceMs).toBe(1_000);
  applyHost(state, { ...emptyHost, service: { ...emptyHost.service, status: 'enabled' } }, 3_000);
  expect(state.disabledSinceMs).toBeNull();
});

test('an obstacle that no user accepted keeps its server where it is, and only that', () => {
  const state = evictionOf(hostWith(server('a'), server('b')));
  state.obstacles = [{ id: 'Vgpu/a', code: 'Vgpu', instanceId: 'a', message: 'has a vGPU' }];
  blockByObstacles(state, 2_000);
  expect(state.instances['a']).toMatchObject({ state: 'blocked', message: 'has a vGPU' });
  expect(state.instances['b']?.state).toBe('pending');
});

describe('what reading the Eviction again changes', () => {
  const held = (): ReturnType<typeof evictionOf> => {
    const state = evictionOf(hostWith(server('a')));
    state.obstacles = [{ id: 'Vgpu/a', code: 'Vgpu', instanceId: 'a', message: 'has a vGPU' }];
    blockByObstacles(state, 2_000);
    return state;
  };
  test('a server goes on whose obstacle is accepted now', () => {
    const state = held();
    applyEviction(state, { ...state.desired, acceptedObstacles: ['Vgpu/a'] }, 3_000);
    expect(theOnly(state).state).toBe('pending');
  });
  test('not one that something else has blocked since', () => {
    const state = held();
    enterState(theOnly(state), 'blocked', 2_500, 'did not move in 3 attempts');
    applyEviction(state, { ...state.desired, acceptedObstacles: ['Vgpu/a'] }, 3_000);
    expect(theOnly(state).state).toBe('blocked');
  });
  test('a deletion asks for a stop', () => {
    const state = held();
    applyEviction(state, { ...state.desired, deleting: true }, 3_000);
    expect(state.stop).toMatchObject({ by: 'the deletion of the Eviction', atMs: 3_000 });
  });
});

test.each<[accepted: string[], inEviction: string[], mayConfirm: boolean]>([
  [[], [], false],
  [['UnconfirmedResize/a'], [], true],
  [[], ['UnconfirmedResize/a'], true],
  [['InstanceLocked/a', 'LocalDisk/a'], ['Vgpu/a'], false],
  [['UnconfirmedResize/b'], ['UnconfirmedResize'], false],
])(
  'accepted %j, and %j in the Eviction: whether the resize of a may be confirmed',
  (accepted, inEviction, mayConfirm) => {
    const state = evictionOf(hostWith(server('a')));
    state.accepted = accepted;
    applyEviction(state, { ...state.desired, acceptedObstacles: inEviction }, 3_000);
    expect(mayConfirmResize(state, 'a')).toBe(mayConfirm);
  },
);

test.each<[what: string, seen: (string | null)[], reason: string]>([
  ['nobody had disabled it', [null], 'drover: eviction node-1: kernel update'],
  ['a maintenance had', ['drover: maintenance auto', null], 'drover: maintenance auto'],
  ['another party had', ['disk is broken', null], 'drover: eviction node-1: kernel update'],
  ['this eviction had', ['drover: eviction node-1: kernel update', null], 'drover: eviction node-1: kernel update'],
])('a service that another party enables is disabled again, where %s', (_what, seen, reason) => {
  const state = evictionOf(hostWith(server('a')));
  for (const disabledReason of seen) {
    const status = disabledReason === null ? ('enabled' as const) : ('disabled' as const);
    applyHost(state, { ...emptyHost, service: { ...emptyHost.service, status, disabledReason } }, 3_000);
  }
  expect(disabledReasonOf(state)).toBe(reason);
});
