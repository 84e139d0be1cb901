import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import { guestWordMaxAgeMs } from '../../contracts/node-failure/guest-watch.ts';
import type { HandlingSettings, NodeFailureLook } from '../../contracts/node-failure/activities.ts';
import { gateDefaults, nodeFailureDefaults } from '../../contracts/node-failure/node-failure.ts';
import { fencingOf, openedAtMs, silentSigns } from '../../test/fixtures/workflows/fencing.ts';
import { rememberSigns, takeInLook } from './take-look.ts';

const settings: HandlingSettings = {
  region: 'RegionOne',
  judging: nodeFailureDefaults,
  gates: gateDefaults,
  fencing: fencingDefaults,
  lookMs: 15_000,
  restLookMs: 60_000,
  power: { pollMs: 2_000, timeoutMs: 60_000 },
  evacuation: { deadlineMs: 60_000, poll: { minMs: 500, maxMs: 5_000 } },
};
const service = { status: 'enabled', state: 'down', disabledReason: null, forcedDown: false } as const;
const lookOf = (change: Partial<NodeFailureLook> = {}): NodeFailureLook => ({
  hypervisor: { name: 'node-1', uid: 'u', generation: 1, hold: null, fencedBootId: null, maintenance: '' },
  mode: 'automatic',
  node: { ready: 'Unknown', bootId: 'boot-1', pressures: [] },
  compute: { state: 'down' },
  nova: { host: 'node-1', service },
  libvirt: null,
  power: 'Off',
  problems: [],
  fleet: {
    host: 'node-1',
    failureDomain: null,
    apis: [{ name: 'Nova', reachable: true }],
    schedulerUp: true,
    hosts: 10,
    suspects: [],
    lastFencingMs: null,
    aggregates: [],
  },
  ...change,
});
const minute = 60_000;

test('signs are as old as the run has seen them: silence counts from the first look, and a break begins it anew', () => {
  const first = rememberSigns(null, 'node-1', { look: lookOf(), askedMs: 1_000, guests: null });
  expect([first.node?.sinceMs, first.compute?.sinceMs]).toEqual([1_000, 1_000]);
  const again = rememberSigns(first, 'node-1', { look: lookOf(), askedMs: 5_000, guests: null });
  expect([again.node?.sinceMs, again.witnesses[0]?.atMs]).toEqual([1_000, 5_000]);
  const spoke = rememberSigns(again, 'node-1', {
    look: lookOf({ node: { ready: 'False', bootId: 'boot-1', pressures: [] } }),
    askedMs: 6_000,
    guests: null,
  });
  expect([spoke.node?.sinceMs, spoke.compute?.sinceMs]).toEqual([6_000, 1_000]);
  const unread = rememberSigns(spoke, 'node-1', { look: lookOf({ compute: null }), askedMs: 7_000, guests: null });
  expect(rememberSigns(unread, 'node-1', { look: lookOf(), askedMs: 8_000, guests: null }).compute?.sinceMs).toBe(
    8_000,
  );
});

const witnesses: [power: NodeFailureLook['power'], says: string | undefined][] = [
  ['Off', 'stopped'],
  ['On', 'powered'],
  ['PoweringOff', 'powered'],
  ['Paused', 'powered'],
  ['Unknown', 'unknown'],
  [null, undefined],
];
test.each(witnesses)('a BMC that tells %s is a witness of %s', (power, says) => {
  expect(rememberSigns(null, 'node-1', { look: lookOf({ power }), askedMs: 1, guests: null }).witnesses[0]?.says).toBe(
    says,
  );
});

const words: [what: string, libvirt: NodeFailureLook['libvirt'], saidMs: number | null, verdict: string | undefined][] =
  [
    ['nobody said that guests fail', { verdict: 'healthy', message: '' }, null, 'healthy'],
    ['somebody said so just now', { verdict: 'healthy', message: '' }, 99_000, 'failing'],
    ['that was long ago', { verdict: 'healthy', message: '' }, 100_000 - guestWordMaxAgeMs, 'healthy'],
    ['libvirt is silent by now', { verdict: 'silent', message: '' }, 99_000, 'silent'],
    ['nobody asked libvirt', null, 99_000, undefined],
  ];
test.each(words)('where %s, that is what libvirt tells', (_what, libvirt, saidMs, verdict) => {
  const guests = saidMs === null ? null : { message: 'vm-1 crashed', atMs: saidMs };
  expect(rememberSigns(null, 'node-1', { look: lookOf({ libvirt }), askedMs: 100_000, guests }).libvirt?.verdict).toBe(
    verdict,
  );
});

test('guests that go on failing make the host a failed one that lives', () => {
  const well = lookOf({
    node: { ready: 'True', bootId: 'boot-1', pressures: [] },
    compute: { state: 'up' },
    libvirt: { verdict: 'healthy', message: '' },
  });
  const at = (state: ReturnType<typeof takeInLook>, askedMs: number) =>
    takeInLook(
      state,
      'node-1',
      { look: well, askedMs, guests: { message: '2 guests failed', atMs: askedMs - 1_000 } },
      settings,
      askedMs,
    );
  const first = at(null, openedAtMs);
  expect(first?.verdict).toMatchObject({ verdict: 'watch', reason: 'GuestsFailing', untilMs: openedAtMs + 3 * minute });
  expect(at(first, openedAtMs + 3 * minute)?.verdict).toMatchObject({
    verdict: 'failed',
    reason: 'GuestsFailing',
    alive: 'yes',
    message: expect.stringContaining('2 guests failed'),
  });
});

test('the first look opens an incident that names the boot; the host is dead only when it was silent long enough', () => {
  const opened = takeInLook(
    null,
    'node-1',
    { look: lookOf(), askedMs: openedAtMs, guests: null },
    settings,
    openedAtMs,
  );
  expect(opened).toMatchObject({
    incident: { host: 'node-1', bootId: 'boot-1', openedAtMs },
    verdict: { verdict: 'watch' },
    forcedDown: false,
    power: { power: 'Off', atMs: openedAtMs },
  });
  const laterMs = openedAtMs + 3 * minute;
  expect(
    takeInLook(opened, 'node-1', { look: lookOf(), askedMs: laterMs, guests: null }, settings, laterMs),
  ).toMatchObject({ verdict: { verdict: 'failed', alive: 'no' }, gate: { gate: 'go' } });
  expect(
    takeInLook(opened, 'node-1', { look: lookOf({ power: 'On' }), askedMs: laterMs, guests: null }, settings, laterMs),
  ).toMatchObject({ verdict: { verdict: 'suspect', reason: 'NoWitness' } });
});

test.each([
  ['kube-apiserver', { hypervisor: null }],
  ['Nova', { nova: null, compute: null }],
])('without %s nobody knows whether it was fenced before, so no incident is opened', (_what, change) => {
  expect(takeInLook(null, 'node-1', { look: lookOf(change), askedMs: 1, guests: null }, settings, 1)).toBeNull();
});

test('what an earlier run has fenced is taken up, without its evidence', () => {
  const hypervisor = {
    name: 'node-1',
    uid: 'u',
    generation: 1,
    hold: 'NodeFailure',
    fencedBootId: 'boot-0',
    maintenance: '',
  };
  const look = lookOf({ hypervisor, nova: { host: 'node-1', service: { ...service, forcedDown: true } } });
  expect(takeInLook(null, 'node-1', { look, askedMs: 1, guests: null }, settings, 1)).toMatchObject({
    forcedDown: true,
    fencedBootId: 'boot-0',
    evidence: null,
    incident: { bootId: 'boot-0' },
  });
  // Held, and forced down by nobody: it begins like any other.
  expect(
    takeInLook(null, 'node-1', { look: lookOf({ hypervisor }), askedMs: 1, guests: null }, settings, 1),
  ).toMatchObject({ forcedDown: false, fencedBootId: null });
});

test('a look that says less of the power than before does not make it look younger', () => {
  const before = fencingOf({ signs: silentSigns, power: { host: 'node-1', power: 'Off', atMs: openedAtMs } });
  expect(
    takeInLook(
      before,
      'node-1',
      { look: lookOf({ power: null }), askedMs: openedAtMs + minute, guests: null },
      settings,
      openedAtMs + minute,
    )?.power,
  ).toEqual(before.power);
  expect(
    takeInLook(
      before,
      'node-1',
      { look: lookOf({ power: 'On' }), askedMs: openedAtMs + minute, guests: null },
      settings,
      openedAtMs + minute,
    )?.power?.power,
  ).toBe('On');
});
