import type { FenceEvidence, TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import type { GateName, HostSigns } from '../../contracts/node-failure/node-failure.ts';
import type { PowerState } from '../../contracts/node-failure/power.ts';
import {
  candidate,
  confirmationAt,
  fencingOf,
  openedAtMs,
  proofAt,
  silentSigns,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import {
  consentToLoss,
  endEvacuation,
  beginEvacuations,
  retryLeft,
  takeConfirmation,
  takePower,
  takeProof,
  takeServers,
  useConfirmation,
  type FencingState,
} from './fencing-state.ts';
import { planFencing } from './plan-fencing.ts';

const nowMs = openedAtMs + 20_000;
const holdUntilMs = openedAtMs + fencingDefaults.powerRecheckMs + fencingDefaults.holdCheckMs;
const held = (name: GateName): Partial<FencingState> => ({ gate: { gate: 'hold', name, message: 'shut' } });
const words = (text: RegExp): string => expect.stringMatching(text) as string;
const wait = (text: RegExp, untilMs: number | null = null): object => ({ do: 'wait', for: words(text), untilMs });
const recommends = (what: string): object => ({ do: 'recommend', what, message: 'node-1 is silent' });

const byPower: FenceEvidence = { by: 'power', proof: proofAt(openedAtMs) };
const fenced = (change: Partial<FencingState> = {}): FencingState => ({
  ...takeProof(fencingOf(), proofAt(openedAtMs)),
  ...change,
});
const confirmed = (change: Partial<FencingState> = {}): FencingState => ({
  ...useConfirmation(fencingOf({ confirmation: confirmationAt(openedAtMs) }), openedAtMs + 1),
  ...change,
});
const tracked = (
  id: string,
  state: TrackedEvacuation['state'] = 'pending',
  change: Partial<TrackedEvacuation> = {},
): TrackedEvacuation => ({ ...candidate(id), state, attempts: 0, why: null, retryAtMs: null, ...change });
const down = { forcedDown: true };
const going = (...servers: TrackedEvacuation[]): Partial<FencingState> => ({ ...down, servers });
const signs = (change: Partial<HostSigns>): Partial<FencingState> => ({ signs: { ...silentSigns, ...change } });
const node = (ready: 'True' | 'False' | 'Unknown', bootId: string | null = 'boot-1'): Partial<HostSigns> => ({
  node: { ready, sinceMs: nowMs, bootId, pressures: [] },
});
const power = (state: PowerState, atMs = nowMs): Partial<FencingState> => ({
  power: { host: 'node-1', power: state, atMs },
});

type Row = [why: string, state: FencingState, step: object];
const rows: Row[] = [
  // Nothing has been done yet
  [
    'a host that is well again is left alone',
    fencingOf({ verdict: verdictOf('healthy', 'yes') }),
    { do: 'end', outcome: 'Recovered', message: words(/nothing was done/) },
  ],
  [
    'one that is watched is watched',
    fencingOf({ verdict: verdictOf('watch', 'unknown', { untilMs: 7 }) }),
    wait(/node-1 is silent/, 7),
  ],
  [
    'of a suspect a person is told',
    fencingOf({ verdict: verdictOf('suspect', 'unknown'), recommended: null }),
    recommends('fence'),
  ],
  [
    'of one that lives, that it needs mending',
    fencingOf({ verdict: verdictOf('suspect', 'yes'), recommended: null }),
    recommends('mend'),
  ],
  [
    'and nothing is done by itself, even where it may be',
    fencingOf({ verdict: verdictOf('suspect', 'unknown') }),
    wait(/a person to look/),
  ],
  ['a failed one is told first', fencingOf({ recommended: null }), recommends('fence')],
  ['what was recommended as a suspect is not told twice', fencingOf({ recommended: 'mend' }), recommends('fence')],
  [
    'without an opt-in a person decides',
    fencingOf({ mode: 'recommend' }),
    wait(/a person to confirm that node-1 is off/),
  ],
  ['with one it is powered off', fencingOf(), { do: 'powerOff', cause: 'automatic fencing: node-1 is silent' }],
  ['unless a gate holds', fencingOf(held('DomainFailure')), wait(/the gate DomainFailure: shut/)],
  [
    'after a failure, not at once',
    fencingOf({ problem: { message: 'The BMC is away.', retryAtMs: nowMs + 1 } }),
    wait(/The BMC is away\. Or a person to confirm/, nowMs + 1),
  ],
  [
    'but again',
    fencingOf({ problem: { message: 'The BMC is away.', retryAtMs: nowMs } }),
    { do: 'powerOff', cause: words(/./) },
  ],

  [
    'nor while something on the host speaks',
    fencingOf(signs({ libvirt: { verdict: 'healthy', sinceMs: 0, message: '' } })),
    wait(/a new look at the host: .* but libvirt on node-1 answers/),
  ],

  // It lives
  ['one that fails and lives is told', fencingOf({ verdict: verdictOf('failed', 'yes') }), recommends('evictLive')],
  [
    'and moved live, never fenced',
    fencingOf({ verdict: verdictOf('failed', 'yes'), recommended: 'evictLive' }),
    { do: 'evictLive', message: 'node-1 is silent' },
  ],
  [
    'one host at a time',
    fencingOf({
      verdict: verdictOf('failed', 'yes'),
      recommended: 'evictLive',
      problem: { message: 'Another host was emptied.', retryAtMs: nowMs + 1 },
    }),
    wait(/Another host was emptied/, nowMs + 1),
  ],
  [
    'without an opt-in by a person',
    fencingOf({ verdict: verdictOf('failed', 'yes'), recommended: 'evictLive', mode: 'recommend' }),
    wait(/a person to start the eviction/),
  ],
  [
    'unless a gate holds',
    fencingOf({ verdict: verdictOf('failed', 'yes'), recommended: 'evictLive', ...held('MassFailure') }),
    wait(/MassFailure/),
  ],
  [
    'then the eviction has it',
    fencingOf({ handedOver: true }),
    { do: 'end', outcome: 'HandedOver', message: words(/Eviction/) },
  ],

  // A person's word
  [
    'a confirmation is used',
    fencingOf({ mode: 'recommend', confirmation: confirmationAt(openedAtMs) }),
    { do: 'useConfirmation', confirmation: confirmationAt(openedAtMs) },
  ],
  [
    'it passes gates of the fleet',
    fencingOf({ ...held('DomainFailure'), confirmation: confirmationAt(openedAtMs) }),
    { do: 'useConfirmation', confirmation: confirmationAt(openedAtMs) },
  ],
  [
    'but not without a scheduler',
    fencingOf({ ...held('SchedulerDown'), confirmation: confirmationAt(openedAtMs) }),
    wait(/SchedulerDown/),
  ],
  [
    'one that does not count any more is put away',
    fencingOf({ ...held('SchedulerDown'), confirmation: confirmationAt(openedAtMs - fencingDefaults.consentMs) }),
    { do: 'useConfirmation', confirmation: expect.anything() as object },
  ],

  // It is off
  ['a proof: forced down', fenced(), { do: 'forceDown' }],
  ['a person’s word: forced down', confirmed(), { do: 'forceDown' }],
  ['not without the APIs', fenced(held('ApisUnreachable')), wait(/ApisUnreachable/)],
  [
    'after a failure, not at once',
    fenced({ problem: { message: 'Nova is away.', retryAtMs: nowMs + 1 } }),
    wait(/Nova is away/, nowMs + 1),
  ],
  ['then its servers are listed', fenced(down), { do: 'listServers' }],
  [
    'and evacuated',
    fenced(going(tracked('a'), tracked('b'))),
    { do: 'evacuate', servers: [expect.objectContaining({ id: 'a' }), expect.objectContaining({ id: 'b' })] },
  ],
  [
    'on a person’s word too',
    confirmed(going(tracked('a'))),
    { do: 'evacuate', servers: [expect.objectContaining({ id: 'a' })] },
  ],
  [
    'no more than may be at once',
    fenced({ ...going(tracked('a', 'evacuating'), tracked('b')), settings: { ...fencingDefaults, parallelism: 1 } }),
    wait(/1 in flight and 1 pending/, holdUntilMs),
  ],
  ['not without a scheduler', fenced({ ...going(tracked('a')), ...held('SchedulerDown') }), wait(/SchedulerDown/)],
  [
    'those in flight are waited for',
    fenced({ ...going(tracked('a', 'evacuating')), ...held('SchedulerDown') }),
    wait(/1 in flight/, holdUntilMs),
  ],
  [
    'gates of the fleet do not stop what has begun',
    fenced({ ...going(tracked('a')), ...held('MassFailure') }),
    { do: 'evacuate', servers: [expect.anything() as object] },
  ],
  [
    'one that failed waits for its next attempt',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs + 1_000 }))),
    wait(/0 in flight and 1 pending, 1 of them for their next attempt/, nowMs + 1_000),
  ],
  [
    'while the others go',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs + 1_000 }), tracked('b'))),
    { do: 'evacuate', servers: [expect.objectContaining({ id: 'b' })] },
  ],
  [
    'and then goes itself',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs }))),
    { do: 'evacuate', servers: [expect.objectContaining({ id: 'a' })] },
  ],
  [
    'the power is looked at meanwhile',
    fenced(going(tracked('a', 'pending', { attempts: 1, retryAtMs: nowMs + 600_000 }))),
    wait(/next attempt/, holdUntilMs),
  ],
  [
    'when all have left the host is held off',
    fenced(going(tracked('a', 'evacuated'), tracked('b', 'gone'))),
    wait(/node-1 to be mended and started: 2 of 2 servers have left it/),
  ],
  [
    'those that stay behind are named',
    fenced(going(tracked('a', 'evacuated'), tracked('b', 'left', { why: 'a local disk' }))),
    wait(/1 of 2 servers have left it, left behind: vm-b \(a local disk\)/),
  ],

  // It is held off
  [
    'the power is looked at from time to time',
    fenced({ ...going(tracked('a')), ...power('Off', nowMs - fencingDefaults.holdCheckMs) }),
    { do: 'checkPower' },
  ],
  [
    'also while the last ones are in flight',
    fenced({ ...going(tracked('a', 'evacuating')), ...power('Off', nowMs - fencingDefaults.holdCheckMs) }),
    { do: 'checkPower' },
  ],
  [
    'where that fails nothing more is begun',
    fenced({
      ...going(tracked('a')),
      ...power('Off', nowMs - fencingDefaults.holdCheckMs),
      problem: { message: 'The BMC is away.', retryAtMs: nowMs + 1 },
    }),
    wait(/The BMC is away/, nowMs + 1),
  ],
  [
    'nor where the BMC does not tell',
    fenced({ ...going(tracked('a')), ...power('Unknown') }),
    wait(/to tell its power again/, nowMs + fencingDefaults.holdCheckMs),
  ],
  [
    'power that is on again ends it',
    fenced({ ...going(tracked('a')), ...power('On') }),
    { do: 'loseEvidence', why: words(/tells On/) },
  ],
  [
    'also on a person’s word',
    confirmed({ ...going(tracked('a')), ...power('PoweringOn') }),
    { do: 'loseEvidence', why: words(/tells PoweringOn/) },
  ],
  [
    'so does the kubelet',
    fenced({ ...going(tracked('a')), ...signs(node('False')) }),
    { do: 'loseEvidence', why: words(/kubelet/) },
  ],
  [
    'so does another boot',
    fenced({ ...going(tracked('a')), ...signs(node('Unknown', 'boot-2')) }),
    { do: 'loseEvidence', why: words(/booted again/) },
  ],
  [
    'so does nova-compute',
    fenced({ ...going(tracked('a')), ...signs({ compute: { state: 'up', sinceMs: nowMs } }) }),
    { do: 'loseEvidence', why: words(/nova-compute/) },
  ],
  [
    'so does libvirt',
    fenced({ ...going(tracked('a')), ...signs({ libvirt: { verdict: 'failing', sinceMs: nowMs, message: '' } }) }),
    { do: 'loseEvidence', why: words(/libvirt/) },
  ],
  [
    'on a person’s word, guests that write too',
    confirmed({
      ...going(tracked('a')),
      ...signs({ witnesses: [{ kind: 'rbdWatchers', says: 'running', atMs: nowMs }] }),
    }),
    { do: 'loseEvidence', why: words(/write to their disks/) },
  ],
  [
    'but watchers outlive lost power',
    fenced({
      ...going(tracked('a')),
      ...signs({ witnesses: [{ kind: 'rbdWatchers', says: 'running', atMs: nowMs }] }),
    }),
    { do: 'evacuate', servers: [expect.anything() as object] },
  ],
  [
    'evidence of another host is none',
    fenced({ ...going(tracked('a')), evidence: { ...byPower, proof: proofAt(openedAtMs, { host: 'node-2' }) } }),
    { do: 'loseEvidence', why: words(/node-2/) },
  ],

  // It has shown life
  [
    'those in flight end first',
    fenced({ ...going(tracked('a', 'evacuating')), evidence: null, ...signs(node('True', 'boot-2')) }),
    wait(/1 evacuations in flight to end/),
  ],
  [
    'one that came back with another boot is restored',
    fenced({
      ...going(tracked('a', 'evacuated'), tracked('b')),
      evidence: null,
      ...signs({ ...node('True', 'boot-2'), libvirt: { verdict: 'healthy', sinceMs: nowMs, message: '' } }),
    }),
    { do: 'restore' },
  ],
  [
    'and that is tried again later where it failed',
    fenced({
      ...going(tracked('a', 'evacuated'), tracked('b')),
      evidence: null,
      problem: { message: 'Nova’s words.', retryAtMs: nowMs + 1 },
      ...signs({ ...node('True', 'boot-2'), libvirt: { verdict: 'healthy', sinceMs: nowMs, message: '' } }),
    }),
    { do: 'wait', for: 'Nova’s words.', untilMs: nowMs + 1 },
  ],
  [
    'not before libvirt is well',
    fenced({ ...going(tracked('a', 'evacuated')), evidence: null, ...signs({ ...node('True', 'boot-2') }) }),
    wait(/libvirt on node-1: no answer/),
  ],
  [
    'never where it was not rebooted: two copies may run',
    fenced({
      ...going(tracked('a', 'evacuated')),
      evidence: null,
      ...signs({ ...node('True', 'boot-1'), libvirt: null }),
    }),
    wait(/came back without a reboot/),
  ],
  [
    'nor where nobody knows',
    fenced({ ...going(tracked('a', 'evacuated')), evidence: null, ...signs({ ...node('True', null), libvirt: null }) }),
    wait(/came back without a reboot/),
  ],
  [
    'its power came on and it is silent: off again',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On') }),
    { do: 'powerOff', cause: words(/./) },
  ],
  [
    'but by a person where nobody opted in',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On'), mode: 'recommend' }),
    wait(/or a person to confirm/),
  ],
  [
    'and not against a gate',
    fenced({ ...going(tracked('a')), evidence: null, ...power('On'), ...held('DomainFailure') }),
    wait(/DomainFailure/),
  ],
  [
    'a new confirmation counts',
    fenced({ ...going(tracked('a')), evidence: null, mode: 'recommend', confirmation: confirmationAt(nowMs) }),
    { do: 'useConfirmation', confirmation: confirmationAt(nowMs) },
  ],
  [
    'at last',
    fenced({ ...going(tracked('a', 'evacuated')), restored: true }),
    { do: 'end', outcome: 'Restored', message: words(/node-1 is back; 1 of 1 servers have left it/) },
  ],
];
test.each(rows)('%s', (_why, state, step) => {
  expect(planFencing(state, nowMs)).toEqual(step);
});

describe('what is taken in', () => {
  test('a confirmation is used once', () => {
    const given = takeConfirmation(fencingOf({ mode: 'recommend' }), confirmationAt(openedAtMs), openedAtMs);
    expect(given.decision).toMatchObject({ consent: 'valid' });
    const used = useConfirmation(given.state, openedAtMs + 1);
    expect(used).toMatchObject({
      evidence: { by: 'person' },
      confirmation: null,
      usedConfirmations: ['update-1'],
      fencedBootId: 'boot-1',
    });
    expect(takeConfirmation({ ...used, evidence: null }, confirmationAt(openedAtMs), openedAtMs + 2)).toMatchObject({
      state: { confirmation: null },
      decision: { consent: 'refused', reason: 'Used' },
    });
  });

  test('one that has expired before it was used is no evidence', () => {
    const state = fencingOf({ confirmation: confirmationAt(openedAtMs) });
    expect(useConfirmation(state, openedAtMs + fencingDefaults.consentMs)).toMatchObject({
      evidence: null,
      confirmation: null,
      usedConfirmations: [],
    });
  });

  test('a proof that does not count changes nothing', () => {
    const state = fencingOf();
    expect(takeProof(state, proofAt(openedAtMs - 1))).toBe(state);
    expect(takeProof(state, proofAt(openedAtMs, { host: 'node-2' }))).toBe(state);
  });

  test('an older look at the power changes nothing, nor one at another host', () => {
    const state = fenced();
    expect(takePower(state, { host: 'node-1', power: 'On', atMs: openedAtMs })).toBe(state);
    expect(takePower(state, { host: 'node-2', power: 'On', atMs: nowMs })).toBe(state);
    expect(takePower(state, { host: 'node-1', power: 'On', atMs: nowMs }).power?.power).toBe('On');
  });

  test('local disks are left until somebody gives them up', () => {
    const listed = takeServers(fenced(down), [
      candidate('a'),
      candidate('b', { localDiskGiB: 5 }),
      candidate('c', { imageTags: ['amphora'], localDiskGiB: 5 }),
    ]);
    expect(listed.servers?.map(({ state }) => state)).toEqual(['pending', 'left', 'left']);
    expect(
      consentToLoss(
        listed,
        ['b', 'c'].map((id) => ({ id, person: 'jane', atMs: nowMs })),
      ).servers?.map(({ state }) => state),
    ).toEqual(['pending', 'pending', 'left']);
  });

  test('the pause has an end, and whoever asks for a retry ends it', () => {
    const settings = { ...fencingDefaults, maxAttempts: 20 };
    const many = endEvacuation(
      fenced({ ...going(tracked('a', 'evacuating', { attempts: 12 })), settings }),
      'a',
      'failed',
      'No valid host was found',
      nowMs,
    );
    expect(many.servers?.[0]?.retryAtMs).toBe(nowMs + 600_000);
    expect(retryLeft(many).servers?.[0]).toMatchObject({ state: 'pending', attempts: 12, retryAtMs: null });
  });

  test('a failed evacuation is tried again, and left after the last time', () => {
    let state = takeServers(fenced(down), [candidate('a')]);
    for (const [expected, pauseMs] of [
      ['pending', 30_000],
      ['pending', 60_000],
      ['left', null],
    ] as const) {
      state = endEvacuation(beginEvacuations(state, ['a']), 'a', 'failed', 'No valid host was found', nowMs);
      expect(state.servers?.[0]).toMatchObject({
        state: expected,
        why: 'No valid host was found',
        retryAtMs: pauseMs === null ? null : nowMs + pauseMs,
      });
    }
    expect(consentToLoss(state, [{ id: 'a', person: 'jane', atMs: nowMs }]).servers?.[0]?.state).toBe('left');
  });
});
