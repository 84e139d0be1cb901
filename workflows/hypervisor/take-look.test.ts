import { fencingDefaults } from '../../contracts/fencing.ts';
import type { HandlingSettings, NodeFailureLook } from '../../contracts/node-failure-activities.ts';
import { gateDefaults, nodeFailureDefaults } from '../../contracts/node-failure.ts';
import { fencingOf, openedAtMs, silentSigns } from './fencing-sample.ts';
import { rememberSigns, takeInLook } from './take-look.ts';

const settings: HandlingSettings = {
  region: 'RegionOne', judging: nodeFailureDefaults, gates: gateDefaults, fencing: fencingDefaults,
  lookMs: 15_000, restLookMs: 60_000, power: { pollMs: 2_000, timeoutMs: 60_000 }, evacuation: { deadlineMs: 60_000, poll: { minMs: 500, maxMs: 5_000 } },
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
  fleet: { host: 'node-1', failureDomain: null, apis: [{ name: 'Nova', reachable: true }], schedulerUp: true, hosts: 10, suspects: [], lastFencingMs: null, aggregates: [] },
  ...change,
});
const minute = 60_000;

test('signs are as old as the run has seen them: silence counts from the first look, and a break begins it anew', () => {
  const first = rememberSigns(null, 'node-1', { look: lookOf(), askedMs: 1_000 });
  expect([first.node?.sinceMs, first.compute?.sinceMs]).toEqual([1_000, 1_000]);
  const again = rememberSigns(first, 'node-1', { look: lookOf(), askedMs: 5_000 });
  expect([again.node?.sinceMs, again.witnesses[0]?.atMs]).toEqual([1_000, 5_000]);
  const spoke = rememberSigns(again, 'node-1', { look: lookOf({ node: { ready: 'False', bootId: 'boot-1', pressures: [] } }), askedMs: 6_000 });
  expect([spoke.node?.sinceMs, spoke.compute?.sinceMs]).toEqual([6_000, 1_000]);
  const unread = rememberSigns(spoke, 'node-1', { look: lookOf({ compute: null }), askedMs: 7_000 });
  expect(rememberSigns(unread, 'node-1', { look: lookOf(), askedMs: 8_000 }).compute?.sinceMs).toBe(8_000);
});

const witnesses: [power: NodeFailureLook['power'], says: string | undefined][] = [['Off', 'stopped'], ['On', 'powered'], ['PoweringOff', 'powered'], ['Paused', 'powered'], ['Unknown', 'unknown'], [null, undefined]];
test.each(witnesses)('a BMC that tells %s is a witness of %s', (power, says) => {
  expect(rememberSigns(null, 'node-1', { look: lookOf({ power }), askedMs: 1 }).witnesses[0]?.says).toBe(says);
});

test('the first look opens an incident that names the boot; the host is dead only when it was silent long enough', () => {
  const opened = takeInLook(null, 'node-1', { look: lookOf(), askedMs: openedAtMs }, settings, openedAtMs);
  expect(opened).toMatchObject({ incident: { host: 'node-1', bootId: 'boot-1', openedAtMs }, verdict: { verdict: 'watch' }, forcedDown: false, power: { power: 'Off', atMs: openedAtMs } });
  const laterMs = openedAtMs + 3 * minute;
  expect(takeInLook(opened, 'node-1', { look: lookOf(), askedMs: laterMs }, settings, laterMs)).toMatchObject({ verdict: { verdict: 'failed', alive: 'no' }, gate: { gate: 'go' } });
  expect(takeInLook(opened, 'node-1', { look: lookOf({ power: 'On' }), askedMs: laterMs }, settings, laterMs)).toMatchObject({ verdict: { verdict: 'suspect', reason: 'NoWitness' } });
});

test.each([['kube-apiserver', { hypervisor: null }], ['Nova', { nova: null, compute: null }]])('without %s nobody knows whether it was fenced before, so no incident is opened', (_what, change) => {
  expect(takeInLook(null, 'node-1', { look: lookOf(change), askedMs: 1 }, settings, 1)).toBeNull();
});

test('what an earlier run has fenced is taken up, without its evidence', () => {
  const hypervisor = { name: 'node-1', uid: 'u', generation: 1, hold: 'NodeFailure', fencedBootId: 'boot-0', maintenance: '' };
  const look = lookOf({ hypervisor, nova: { host: 'node-1', service: { ...service, forcedDown: true } } });
  expect(takeInLook(null, 'node-1', { look, askedMs: 1 }, settings, 1)).toMatchObject({ forcedDown: true, fencedBootId: 'boot-0', evidence: null, incident: { bootId: 'boot-0' } });
  // Held, and forced down by nobody: it begins like any other.
  expect(takeInLook(null, 'node-1', { look: lookOf({ hypervisor }), askedMs: 1 }, settings, 1)).toMatchObject({ forcedDown: false, fencedBootId: null });
});

test('a look that says less of the power than before does not make it look younger', () => {
  const before = fencingOf({ signs: silentSigns, power: { host: 'node-1', power: 'Off', atMs: openedAtMs } });
  expect(takeInLook(before, 'node-1', { look: lookOf({ power: null }), askedMs: openedAtMs + minute }, settings, openedAtMs + minute)?.power).toEqual(before.power);
  expect(takeInLook(before, 'node-1', { look: lookOf({ power: 'On' }), askedMs: openedAtMs + minute }, settings, openedAtMs + minute)?.power?.power).toBe('On');
});
