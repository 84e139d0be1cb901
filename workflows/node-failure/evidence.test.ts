import type { Confirmation, FenceEvidence } from '../../contracts/node-failure/fencing.ts';
import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import type { HostSigns } from '../../contracts/node-failure/node-failure.ts';
import type { PowerState } from '../../contracts/node-failure/power.ts';
import {
  datedProof,
  downProof,
  evidenceProblem,
  judgeConsent,
  proofProblem,
  upProof,
  type ConsentRefusal,
  type ConsentView,
} from './evidence.ts';
import {
  confirmationAt,
  dead,
  incident,
  openedAtMs,
  proofAt,
  silentSigns,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';

const minute = 60_000;
const nowMs = openedAtMs + minute;
const view: ConsentView = { incident, verdict: dead, signs: silentSigns, power: null, used: [] };
const signs = (change: Partial<HostSigns>): Partial<ConsentView> => ({ signs: { ...silentSigns, ...change } });
const node = (ready: 'False' | 'Unknown' | 'Gone', bootId: string | null): Partial<ConsentView> =>
  signs({ node: { ready, sinceMs: 0, bootId } });
const bootless: Partial<ConsentView> = { ...node('Gone', null), incident: { ...incident, bootId: null } };
const power = (state: PowerState, agoMs = 0) => ({ host: 'node-1', power: state, atMs: nowMs - agoMs });

type Row = [
  why: string,
  confirmation: Partial<Confirmation>,
  view: Partial<ConsentView>,
  refused: ConsentRefusal | null,
  message?: RegExp,
];
const rows: Row[] = [
  ['names incident, boot and person', {}, {}, null],
  ['no person gave it', { person: ' ' }, {}, 'Anonymous'],
  [
    'another incident',
    { incident: 'node-1/0' },
    {},
    'WrongIncident',
    /for the incident node-1\/0; the one at hand is node-1\/1/,
  ],
  ['another boot', { bootId: 'boot-0' }, {}, 'WrongBootId', /silent since the boot boot-1/],
  ['the host has booted since', {}, node('Unknown', 'boot-2'), 'WrongBootId', /has booted since/],
  ['no boot is known now', {}, node('Unknown', null), null],
  ['its Node is gone', {}, node('Gone', null), null],
  ['no boot was ever known, and that is said', { bootId: 'unknown' }, bootless, null],
  ['no boot was ever known, and one is named', {}, bootless, 'WrongBootId', /which is said as unknown/],
  ['a boot is known, and unknown is said', { bootId: 'unknown' }, {}, 'WrongBootId'],
  ['used already', {}, { used: ['update-1'] }, 'Used', /confirm anew/],
  ['another was used', {}, { used: ['update-0'] }, null],
  ['just given', { atMs: nowMs }, {}, null],
  ['14:59 ago', { atMs: nowMs - 15 * minute + 1 }, {}, null],
  ['15 min ago', { atMs: nowMs - 15 * minute }, {}, 'Expired', /jane more than 15 min ago/],
  ['in the future', { atMs: nowMs + 1 }, {}, 'Expired'],
  ['at no time', { atMs: Number.NaN }, {}, 'Expired'],
  [
    'nova-compute is up',
    {},
    signs({ compute: { state: 'up', sinceMs: 0 } }),
    'ServiceUp',
    /nova-compute on node-1 is up/,
  ],
  ['Nova cannot be read', {}, signs({ compute: null }), 'ServiceUp', /could not be read/],
  ['the BMC says On', {}, { power: power('On') }, 'PowerOn', /power it off first/],
  ['the BMC says PoweringOff', {}, { power: power('PoweringOff') }, 'PowerOn'],
  ['the BMC said On a while ago', {}, { power: power('On', fencingDefaults.holdCheckMs + 1) }, null],
  ['the BMC says Off', {}, { power: power('Off') }, null],
  ['the BMC says nothing', {}, { power: power('Unknown') }, null],
  ['the kubelet speaks', {}, node('False', 'boot-1'), 'HostAlive', /the kubelet of node-1 reports/],
  [
    'libvirt answers',
    {},
    signs({ libvirt: { verdict: 'failing', sinceMs: 0, message: '' } }),
    'HostAlive',
    /libvirt on node-1 answers/,
  ],
  ['something on the host lives', {}, { verdict: verdictOf('suspect', 'yes') }, 'HostAlive'],
  ['it is not known whether it lives, and the person knows', {}, { verdict: verdictOf('suspect', 'unknown') }, null],
  ['it is only watched', {}, { verdict: verdictOf('watch', 'unknown') }, 'NotFailed'],
];
test.each(rows)('%s', (_why, confirmation, change, refused, message = /\.$/) => {
  expect(
    judgeConsent(confirmationAt(nowMs - minute, confirmation), { ...view, ...change }, fencingDefaults, nowMs),
  ).toEqual(
    refused === null
      ? { consent: 'valid', untilMs: (confirmation.atMs ?? nowMs - minute) + 15 * minute }
      : { consent: 'refused', reason: refused, message: expect.stringMatching(message) as string },
  );
});

const byPerson = (change: Partial<Confirmation> = {}, usedAtMs = nowMs): FenceEvidence => ({
  by: 'person',
  confirmation: confirmationAt(nowMs - minute, change),
  usedAtMs,
});
const evidence: [why: string, evidence: FenceEvidence, used: string[], problem: RegExp | null][] = [
  ['a proof of this incident', { by: 'power', proof: proofAt(openedAtMs) }, [], null],
  ['a proof from before the incident', { by: 'power', proof: proofAt(openedAtMs - 1) }, [], /older than the incident/],
  ['a proof of another host', { by: 'power', proof: proofAt(openedAtMs, { host: 'node-2' }) }, [], /it is of node-2/],
  [
    'reads too close together',
    { by: 'power', proof: proofAt(openedAtMs, { secondOffMs: openedAtMs + fencingDefaults.powerRecheckMs - 1 }) },
    [],
    /less than 10 s apart/,
  ],
  ['reads at no time', { by: 'power', proof: proofAt(Number.NaN) }, [], /older than the incident/],
  ['a second read at no time', { by: 'power', proof: proofAt(openedAtMs, { secondOffMs: Number.NaN }) }, [], /apart/],
  ['a confirmation that was used', byPerson(), ['update-1'], null],
  ['one that was not used up', byPerson(), [], /not used up/],
  ['one of another incident', byPerson({ incident: 'node-1/0' }), ['update-1'], /another incident/],
  ['one of another boot', byPerson({ bootId: 'boot-0' }), ['update-1'], /another incident or boot/],
  ['one that was used too late', byPerson({}, nowMs + 15 * minute), ['update-1'], /expired/],
  ['one that was used before it was given', byPerson({}, nowMs - 2 * minute), ['update-1'], /expired/],
];
test.each(evidence)('as evidence: %s', (_why, one, used, problem) => {
  const found = evidenceProblem(one, incident, used, fencingDefaults);
  if (problem === null) expect(found).toBeNull();
  else expect(found).toMatch(problem);
});

test('each evidence names its witness and its time', () => {
  const at = new Date(openedAtMs).toISOString();
  expect(
    downProof({ by: 'person', confirmation: confirmationAt(openedAtMs), usedAtMs: openedAtMs + 1 }, incident),
  ).toEqual({ incident: incident.id, by: 'person', witness: 'jane', at });
  const proof = proofAt(openedAtMs);
  expect(downProof({ by: 'power', proof }, incident)).toEqual({
    incident: incident.id,
    by: 'power-off',
    witness: '/redfish/v1/Systems/1 (u-1)',
    at: new Date(proof.secondOffMs).toISOString(),
  });
  expect(downProof({ by: 'power', proof: { ...proof, systemUuid: null } }, incident).witness).toBe(
    '/redfish/v1/Systems/1',
  );
  expect(upProof('boot-2', incident, openedAtMs)).toEqual({
    incident: incident.id,
    by: 'restart',
    witness: 'boot-2',
    at,
  });
});

test.each([
  ['fast', 3_600_000],
  ['slow', -3_600_000],
])('the clock of a worker that is %s changes nothing: a proof is never younger than its request', (_what, offMs) => {
  const askedMs = openedAtMs + 5_000;
  const dated = datedProof(proofAt(askedMs + 2_000 + offMs), askedMs);
  expect([dated.firstOffMs, dated.secondOffMs]).toEqual([askedMs, askedMs + fencingDefaults.powerRecheckMs]);
  expect(proofProblem(dated, incident, fencingDefaults)).toBeNull();
});

test('reads that were too close by the worker’s own clock stay too close', () => {
  expect(
    proofProblem(
      datedProof(proofAt(openedAtMs, { secondOffMs: openedAtMs + 1 }), openedAtMs),
      incident,
      fencingDefaults,
    ),
  ).toContain('apart');
});
