import type { Confirmation, EvacuationCandidate, Incident } from '../../contracts/fencing.ts';
import { fencingDefaults } from '../../contracts/fencing.ts';
import type { FailureVerdict, HostSigns } from '../../contracts/node-failure.ts';
import type { PowerProof } from '../../contracts/power.ts';
import { beginFencing, type FencingState } from './fencing-state.ts';

/** One incident for tests, in which only what a test is about differs. It was opened at 1,000,000 ms. */
export const openedAtMs = 1_000_000;

export const incident: Incident = { id: 'node-1/1', host: 'node-1', bootId: 'boot-1', openedAtMs };

export const silentSigns: HostSigns = {
  host: 'node-1',
  node: { ready: 'Unknown', sinceMs: openedAtMs - 300_000, bootId: 'boot-1', pressures: [] },
  compute: { state: 'down', sinceMs: openedAtMs - 300_000 },
  libvirt: { verdict: 'silent', sinceMs: openedAtMs - 300_000, message: 'no answer' },
  witnesses: [],
};

export const verdictOf = (
  verdict: FailureVerdict['verdict'],
  alive: FailureVerdict['alive'],
  change: Partial<FailureVerdict> = {},
): FailureVerdict => ({ verdict, alive, reason: 'Dead', message: 'node-1 is silent', untilMs: null, ...change });

export const dead = verdictOf('failed', 'no');

export const proofAt = (firstOffMs: number, change: Partial<PowerProof> = {}): PowerProof => ({
  host: 'node-1',
  systemPath: '/redfish/v1/Systems/1',
  systemUuid: 'u-1',
  firstOffMs,
  secondOffMs: firstOffMs + fencingDefaults.powerRecheckMs,
  asked: true,
  ...change,
});

export const confirmationAt = (atMs: number, change: Partial<Confirmation> = {}): Confirmation => ({
  id: 'update-1',
  incident: incident.id,
  bootId: 'boot-1',
  person: 'jane',
  atMs,
  ...change,
});

export const candidate = (id: string, change: Partial<EvacuationCandidate> = {}): EvacuationCandidate => ({
  id,
  name: `vm-${id}`,
  vmState: 'active',
  memoryMiB: 512,
  localDiskGiB: 0,
  metadata: {},
  imageId: 'image',
  imageTags: [],
  serverGroups: [],
  ...change,
});

export const fencingOf = (change: Partial<FencingState> = {}): FencingState => ({
  ...beginFencing({
    incident,
    settings: fencingDefaults,
    mode: 'automatic',
    signs: silentSigns,
    verdict: dead,
    gate: { gate: 'go' },
  }),
  recommended: 'fence',
  ...change,
});
