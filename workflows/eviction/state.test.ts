import { pickNext } from './order.ts';
import type { desired } from '../../test/fixtures/workflows/eviction.ts';
import { emptyHost, evictionOf, hostWith, server, theOnly } from '../../test/fixtures/workflows/eviction.ts';
import { blockByObstacles, evictionRead, moveEnded } from './answers.ts';
import { become, outstandingRamMiB, remains, takeIn } from './state.ts';
import { planReEnable } from './re-enable.ts';

const ids = (picked: ReturnType<typeof pickNext>): string[] => picked.map(({ instance }) => instance.id);

describe('what a look at the host changes', () => {
  test('a late arrival joins and is moved too (H9)', () => {
    const state = evictionOf(hostWith(server('a')));
    become(theOnly(state), 'moved', 2_000);
    takeIn(state, hostWith(server('b')), 3_000);
    expect(state.instances['b']?.state).toBe('pending');
  });
  test('a server that comes back is moved again', () => {
    const state = evictionOf(hostWith(server('a')));
    become(theOnly(state), 'moved', 2_000);
    takeIn(state, hostWith(server('a')), 3_000);
    expect(theOnly(state)).toMatchObject({ state: 'pending', message: 'came back to the host' });
  });
  test('a blocked server that left by itself is gone', () => {
    const state = evictionOf(hostWith(server('a')));
    become(theOnly(state), 'blocked', 2_000, 'locked');
    takeIn(state, emptyHost, 3_000);
    expect(theOnly(state).state).toBe('gone');
  });
  test('an unconfirmed resize still holds its old disks on the host', () => {
    const state = evictionOf(hostWith(server('a')));
    become(theOnly(state), 'blocked', 2_000, 'resized');
    takeIn(state, { ...emptyHost, unconfirmedResizes: ['a'] }, 3_000);
    expect(theOnly(state).state).toBe('blocked');
    expect(remains(state.host!)).toEqual(['1 unconfirmed resize']);
  });
  test('empty counts from the first look of an unbroken row', () => {
    const state = evictionOf(emptyHost, 1_000);
    takeIn(state, emptyHost, 2_000);
    expect(state.emptySinceMs).toBe(1_000);
    takeIn(state, hostWith(server('a')), 3_000);
    takeIn(state, emptyHost, 4_000);
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
    become(theOnly(state), 'moving', 1_000);
    moveEnded(
      state,
      'a',
      { outcome, targetHost: outcome === 'moved' ? 'node-2' : null, attempts: 2, message: 'why' },
      5_000,
    );
    expect(theOnly(state)).toMatchObject({ state: its, attempts: 2, target: outcome === 'moved' ? 'node-2' : null });
    expect(outstandingRamMiB(state)).toBe(ramMiB);
  });
  test('any of them shows that Nova answers again', () => {
    const state = evictionOf(hostWith(server('a')));
    become(theOnly(state), 'moving', 1_000);
    state.problem = { reason: 'NovaUnavailable', message: 'Nova is away', failures: 3, retryAtMs: 2_000, of: 'step' };
    moveEnded(state, 'a', { outcome: 'nonMigratable', targetHost: null, attempts: 1, message: 'why' }, 5_000);
    expect(state.problem).toBeNull();
  });
});

test('an obstacle that nobody accepted keeps its server where it is, and only that', () => {
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
    evictionRead(state, { ...state.desired, acceptedObstacles: ['Vgpu/a'] }, 3_000);
    expect(theOnly(state).state).toBe('pending');
  });
  test('not one that something else has blocked since', () => {
    const state = held();
    become(theOnly(state), 'blocked', 2_500, 'did not move in 3 attempts');
    evictionRead(state, { ...state.desired, acceptedObstacles: ['Vgpu/a'] }, 3_000);
    expect(theOnly(state).state).toBe('blocked');
  });
  test('a deletion asks for a stop', () => {
    const state = held();
    evictionRead(state, { ...state.desired, deleting: true }, 3_000);
    expect(state.stop).toMatchObject({ by: 'the deletion of the Eviction', atMs: 3_000 });
  });
});

describe('which go next', () => {
  test('members of one server group move one at a time', () => {
    const state = evictionOf(
      hostWith(server('a', { serverGroups: ['g'] }), server('b', { serverGroups: ['g'] }), server('c')),
    );
    const all = Object.values(state.instances);
    expect(ids(pickNext(all, [], 3, false))).toEqual(['a', 'c']);
    expect(ids(pickNext(all.slice(1), all.slice(0, 1), 3, false))).toEqual(['c']);
  });
  test('one that failed before lets the others pass (H4)', () => {
    const state = evictionOf(hostWith(server('a'), server('b', { memoryMiB: 4096 })));
    state.instances['a']!.attempts = 1;
    expect(ids(pickNext(Object.values(state.instances), [], 1, false))).toEqual(['b']);
  });
});

describe('whether the host is enabled again', () => {
  type Row = [cause: typeof desired.cause, reEnable: boolean | null, how: string];
  const rows: Row[] = [
    ['admin', null, 'leave'],
    ['admin', true, 'now'],
    ['admin', false, 'leave'],
    ['decommission', null, 'leave'],
    ['decommission', true, 'now'],
    ['termination', null, 'leave'],
    ['node-failure', null, 'leave'],
    ['rolling-update', null, 'afterReboot'],
    ['rolling-update', true, 'afterReboot'],
    ['rolling-update', false, 'leave'],
  ];
  test.each(rows)('%s, asked %s: %s', (cause, reEnable, how) => {
    expect(planReEnable({ cause, reEnable })).toEqual({ how });
  });
});
