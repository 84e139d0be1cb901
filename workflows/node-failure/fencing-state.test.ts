import type { AbandonDisks } from '../../contracts/messages.ts';
import type { TrackedEvacuation } from '../../contracts/node-failure/fencing.ts';
import { fencingDefaults } from '../../contracts/node-failure/fencing.ts';
import { guestSignalMaxAgeMs } from '../../contracts/node-failure/guest-watch.ts';
import type { NodeFailureObservation } from '../../contracts/node-failure/activities.ts';
import type { HostSigns, Witness } from '../../contracts/node-failure/node-failure.ts';
import {
  candidate,
  computeService,
  confirmationAt,
  fencingOf,
  handlingSettings,
  incident,
  observationOf,
  observedHypervisor,
  openedAtMs,
  proofAt,
  silentSigns,
} from '../../test/fixtures/workflows/fencing.ts';
import {
  applyConfirmation,
  applyDiskConsents,
  applyEvacuation,
  applyObservation,
  applyPower,
  applyProof,
  applyServers,
  dateSigns,
  judgeDiskConsent,
  resetProblems,
  useConfirmation,
  withInFlight,
  type FencingState,
} from './fencing-state.ts';
import { signOfLife } from './plan.ts';

const minute = 60_000;

test('signs are as old as the run has seen them: silence counts from the first observation, and a break begins it anew', () => {
  const first = dateSigns(null, 'node-1', { observed: observationOf(), askedMs: 1_000, guests: null });
  expect([first.node?.sinceMs, first.compute?.sinceMs]).toEqual([1_000, 1_000]);
  const again = dateSigns(first, 'node-1', { observed: observationOf(), askedMs: 5_000, guests: null });
  expect([again.node?.sinceMs, again.witnesses[0]?.atMs]).toEqual([1_000, 5_000]);
  const spoke = dateSigns(again, 'node-1', {
    observed: observationOf({ node: { ready: 'False', bootId: 'boot-1' } }),
    askedMs: 6_000,
    guests: null,
  });
  expect([spoke.node?.sinceMs, spoke.compute?.sinceMs]).toEqual([6_000, 1_000]);
  const goneSince = dateSigns(again, 'node-1', {
    observed: observationOf({ node: { ready: 'Gone', bootId: null } }),
    askedMs: 6_000,
    guests: null,
  });
  expect(goneSince.node?.sinceMs).toBe(1_000);
  const unread = dateSigns(spoke, 'node-1', {
    observed: observationOf({ compute: null }),
    askedMs: 7_000,
    guests: null,
  });
  expect(
    dateSigns(unread, 'node-1', { observed: observationOf(), askedMs: 8_000, guests: null }).compute?.sinceMs,
  ).toBe(8_000);
});

const witnesses: [power: NodeFailureObservation['power'], says: string | undefined][] = [
  ['Off', 'off'],
  ['On', 'powered'],
  ['PoweringOff', 'powered'],
  ['Paused', 'powered'],
  ['Unknown', 'unknown'],
  [null, undefined],
];
const witnessesOf = (change: Partial<NodeFailureObservation>) =>
  dateSigns(null, 'node-1', { observed: observationOf(change), askedMs: 1, guests: null }).witnesses;
test.each(witnesses)('a BMC that says %s is a witness of %s', (power, says) => {
  expect(witnessesOf({ power }).find(({ kind }) => kind === 'bmc')?.says).toBe(says);
});

const leaseOf = (mark: string | null): NodeFailureObservation['witnesses'][number] => ({
  kind: 'agent',
  mark,
  silentAfterMs: 1_000,
  message: '',
});

const others: [
  why: string,
  change: Partial<NodeFailureObservation>,
  kind: Witness['kind'],
  says: string | undefined,
][] = [
  ['nova-compute is down', {}, 'nova', 'silent'],
  ['it is up', { compute: { state: 'up' } }, 'nova', 'alive'],
  ['Nova cannot be read', { compute: null, nova: null }, 'nova', undefined],
  [
    'it is forced down, which drover itself has said',
    { nova: { host: 'node-1', service: { ...computeService, forcedDown: true } } },
    'nova',
    undefined,
  ],
  ['its Node is Unknown', {}, 'kubelet', 'silent'],
  ['its kubelet says no', { node: { ready: 'False', bootId: null } }, 'kubelet', 'alive'],
  ['it has no Node', { node: { ready: 'Gone', bootId: null } }, 'kubelet', undefined],
  ['kube-apiserver cannot be read', { node: null }, 'kubelet', undefined],
  ['libvirt is not asked', {}, 'libvirt', undefined],
  ['libvirt does not answer', { libvirt: { verdict: 'silent', message: '' } }, 'libvirt', 'silent'],
  ['libvirt answers anything', { libvirt: { verdict: 'healthy', message: '' } }, 'libvirt', 'alive'],
  ['the Lease of its Node was read once', { witnesses: [leaseOf('a')] }, 'agent', 'unknown'],
  ['its Node has no Lease', {}, 'agent', undefined],
];
test.each(others)('where %s, the witness %s says %s', (_why, change, kind, says) => {
  expect(witnessesOf(change).find((witness) => witness.kind === kind)?.says).toBe(says);
});

test('a witness is silent since it says nothing else, and a break begins it anew', () => {
  const at = (before: HostSigns | null, askedMs: number, mark: string | null) =>
    dateSigns(before, 'node-1', {
      observed: observationOf({ witnesses: [leaseOf(mark)] }),
      askedMs,
      guests: null,
    });
  const first = at(at(null, 0, 'a'), 1_000, 'a');
  const second = at(first, 2_000, 'a');
  const third = at(at(second, 3_000, null), 4_000, 'a');
  const fourth = at(third, 5_000, 'b');
  const agentOf = ({ witnesses: all }: HostSigns) => all.find(({ kind }) => kind === 'agent');
  expect(agentOf(second)).toMatchObject({ sinceMs: 1_000, atMs: 2_000 });
  expect(agentOf(third)).toMatchObject({ says: 'silent', sinceMs: 4_000, atMs: 4_000 });
  expect(agentOf(fourth)).toMatchObject({ says: 'alive', sinceMs: 5_000 });
});

const signals: [
  what: string,
  libvirt: NodeFailureObservation['libvirt'],
  signalledMs: number | null,
  verdict: string | undefined,
][] = [
  ['no signal came that guests fail', { verdict: 'healthy', message: '' }, null, 'healthy'],
  ['one came just now', { verdict: 'healthy', message: '' }, 99_000, 'failing'],
  ['one came long ago', { verdict: 'healthy', message: '' }, 100_000 - guestSignalMaxAgeMs, 'healthy'],
  ['libvirt is silent by now', { verdict: 'silent', message: '' }, 99_000, 'silent'],
  ['libvirt is not asked', null, 99_000, undefined],
];
test.each(signals)('where %s, that is what libvirt says', (_what, libvirt, signalledMs, verdict) => {
  const guests = signalledMs === null ? null : { message: 'vm-1 crashed', atMs: signalledMs };
  expect(
    dateSigns(null, 'node-1', { observed: observationOf({ libvirt }), askedMs: 100_000, guests }).libvirt?.verdict,
  ).toBe(verdict);
});

test('guests that go on failing make the host a failed one that lives', () => {
  const well = observationOf({
    node: { ready: 'True', bootId: 'boot-1' },
    compute: { state: 'up' },
    libvirt: { verdict: 'healthy', message: '' },
  });
  const at = (state: ReturnType<typeof applyObservation>, askedMs: number) =>
    applyObservation(
      state,
      'node-1',
      { observed: well, askedMs, guests: { message: '2 guests failed', atMs: askedMs - 1_000 } },
      handlingSettings,
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

test('the first observation opens an incident that names the boot; the host is dead only when it was silent long enough', () => {
  const opened = applyObservation(
    null,
    'node-1',
    { observed: observationOf(), askedMs: openedAtMs, guests: null },
    handlingSettings,
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
    applyObservation(
      opened,
      'node-1',
      { observed: observationOf(), askedMs: laterMs, guests: null },
      handlingSettings,
      laterMs,
    ),
  ).toMatchObject({ verdict: { verdict: 'failed', alive: 'no' }, gate: { gate: 'go' } });
  expect(
    applyObservation(
      opened,
      'node-1',
      { observed: observationOf({ power: 'On' }), askedMs: laterMs, guests: null },
      handlingSettings,
      laterMs,
    ),
  ).toMatchObject({ verdict: { verdict: 'suspect', reason: 'NoWitness' } });
});

const gone: NodeFailureObservation['node'] = { ready: 'Gone', bootId: null };
const openedOf = (change: Partial<NodeFailureObservation>, before: FencingState | null = null, askedMs = openedAtMs) =>
  applyObservation(
    before,
    'node-1',
    { observed: observationOf(change), askedMs, guests: null },
    handlingSettings,
    askedMs,
  );

test('without a Node the boot is the one that was recorded last; one that is reported later has to be named from then on', () => {
  const hypervisor = { ...observedHypervisor, lastBootId: 'boot-7' };
  expect(openedOf({ node: gone, hypervisor })?.incident.bootId).toBe('boot-7');
  const unknown = openedOf({ node: gone });
  expect(unknown?.incident.bootId).toBeNull();
  const given = applyConfirmation(
    fencingOf({ incident: { ...incident, bootId: null }, signs: { ...silentSigns, node: { ...gone, sinceMs: 0 } } }),
    confirmationAt(openedAtMs, { bootId: 'unknown' }),
    openedAtMs,
  );
  expect(given.decision).toMatchObject({ consent: 'valid' });
  const used = useConfirmation(given.state, openedAtMs + 1);
  expect(used).toMatchObject({ evidence: { by: 'person' }, fencedBootId: null });
  expect(openedOf({ node: gone }, used, openedAtMs + 2)?.incident.bootId).toBeNull();
  expect(openedOf({}, used, openedAtMs + 2)?.incident.bootId).toBe('boot-1');
});

test('a host that is held and forced down is so, also where the answer to that was lost', () => {
  const hypervisor = { ...observedHypervisor, hold: 'NodeFailure' as const };
  const nova = { host: 'node-1', service: { ...computeService, forcedDown: true } };
  expect(openedOf({ hypervisor, nova }, fencingOf())?.forcedDown).toBe(true);
  expect(openedOf({ nova }, fencingOf())?.forcedDown).toBe(false);
  expect(openedOf({ hypervisor }, fencingOf())?.forcedDown).toBe(false);
  expect(openedOf({ hypervisor, nova }, fencingOf({ restored: true }))?.forcedDown).toBe(false);
});

test('a host that was fenced, and has booted and fallen silent again, is confirmed by the boot that it has now', () => {
  const booted = { node: { ready: 'Unknown', bootId: 'boot-2' } } as const;
  const forced = { ...fencingOf(), forcedDown: true, fencedBootId: 'boot-1' };
  const fenced = applyProof(forced, proofAt(openedAtMs));
  // As long as there is evidence, another boot is what ends it.
  expect(openedOf(booted, fenced)?.incident.bootId).toBe('boot-1');

  const lost = openedOf(booted, { ...fenced, evidence: null });
  expect(lost).toMatchObject({ incident: { id: incident.id, bootId: 'boot-2' }, fencedBootId: 'boot-1' });
  if (lost === null) throw new Error('there is no incident');
  const stale = applyConfirmation(lost, confirmationAt(openedAtMs), openedAtMs);
  expect(stale.decision).toMatchObject({ consent: 'refused', reason: 'WrongBootId' });
  const given = applyConfirmation(lost, confirmationAt(openedAtMs, { bootId: 'boot-2' }), openedAtMs);
  expect(given.decision).toMatchObject({ consent: 'valid' });
  const used = useConfirmation(given.state, openedAtMs + 1);
  expect(used).toMatchObject({ evidence: { by: 'person' }, fencedBootId: 'boot-2' });
  expect(signOfLife(used)).toBeNull();
});

test.each([
  ['kube-apiserver', { hypervisor: null }],
  ['Nova', { nova: null, compute: null }],
])('without %s it is not known whether it was fenced before, so no incident is opened', (_what, change) => {
  expect(
    applyObservation(
      null,
      'node-1',
      { observed: observationOf(change), askedMs: 1, guests: null },
      handlingSettings,
      1,
    ),
  ).toBeNull();
});

test('what an earlier run has fenced is taken up, without its evidence', () => {
  const hypervisor = {
    name: 'node-1',
    uid: 'u',
    generation: 1,
    hold: 'NodeFailure',
    userHold: null,
    fencedBootId: 'boot-0',
    lastBootId: 'boot-1',
    maintenance: '',
    condition: null,
  };
  const observed = observationOf({
    hypervisor,
    nova: { host: 'node-1', service: { ...computeService, forcedDown: true } },
  });
  expect(applyObservation(null, 'node-1', { observed, askedMs: 1, guests: null }, handlingSettings, 1)).toMatchObject({
    forcedDown: true,
    fencedBootId: 'boot-0',
    evidence: null,
    // It has booted since, and that is what a person makes sure of.
    incident: { bootId: 'boot-1' },
  });
  // Held, and not forced down: it begins like any other.
  expect(
    applyObservation(
      null,
      'node-1',
      { observed: observationOf({ hypervisor }), askedMs: 1, guests: null },
      handlingSettings,
      1,
    ),
  ).toMatchObject({ forcedDown: false, fencedBootId: null });
});

test('an observation that says less of the power than before does not make it younger', () => {
  const before = fencingOf({ signs: silentSigns, power: { host: 'node-1', power: 'Off', atMs: openedAtMs } });
  expect(
    applyObservation(
      before,
      'node-1',
      { observed: observationOf({ power: null }), askedMs: openedAtMs + minute, guests: null },
      handlingSettings,
      openedAtMs + minute,
    )?.power,
  ).toEqual(before.power);
  expect(
    applyObservation(
      before,
      'node-1',
      { observed: observationOf({ power: 'On' }), askedMs: openedAtMs + minute, guests: null },
      handlingSettings,
      openedAtMs + minute,
    )?.power?.power,
  ).toBe('On');
});

const nowMs = openedAtMs + 20_000;
const failed = { outcome: 'failed', why: 'No valid host was found' } as const;
const fenced = (change: Partial<FencingState> = {}): FencingState => ({
  ...applyProof(fencingOf(), proofAt(openedAtMs)),
  ...change,
});
const tracked = (
  id: string,
  state: TrackedEvacuation['state'] = 'pending',
  change: Partial<TrackedEvacuation> = {},
): TrackedEvacuation => ({ ...candidate(id), state, attempts: 0, why: null, retryAtMs: null, ...change });
const down = { forcedDown: true };
const going = (...servers: TrackedEvacuation[]): Partial<FencingState> => ({ ...down, servers });

describe('what is applied', () => {
  test('a confirmation is used once', () => {
    const given = applyConfirmation(fencingOf({ mode: 'recommend' }), confirmationAt(openedAtMs), openedAtMs);
    expect(given.decision).toMatchObject({ consent: 'valid' });
    const used = useConfirmation(given.state, openedAtMs + 1);
    expect(used).toMatchObject({
      evidence: { by: 'person' },
      confirmation: null,
      usedConfirmations: ['update-1'],
      fencedBootId: 'boot-1',
    });
    expect(applyConfirmation({ ...used, evidence: null }, confirmationAt(openedAtMs), openedAtMs + 2)).toMatchObject({
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
    expect(applyProof(state, proofAt(openedAtMs - 1))).toBe(state);
    expect(applyProof(state, proofAt(openedAtMs, { host: 'node-2' }))).toBe(state);
  });

  test('an older observation of the power changes nothing, nor one at another host', () => {
    const state = fenced();
    expect(applyPower(state, { host: 'node-1', power: 'On', atMs: openedAtMs })).toBe(state);
    expect(applyPower(state, { host: 'node-2', power: 'On', atMs: nowMs })).toBe(state);
    expect(applyPower(state, { host: 'node-1', power: 'On', atMs: nowMs }).power?.power).toBe('On');
  });

  test.each([
    [undefined, true],
    ['powerOff', false],
    ['checkPower', true],
    ['forceDown', false],
  ])('a reading of the power ends a problem of step %s: %p', (step, isEnded) => {
    const problem = { message: 'refused', retryAtMs: nowMs + minute, ...(step !== undefined && { step }) };
    const read = applyPower(fenced({ problem }), { host: 'node-1', power: 'Off', atMs: nowMs });
    expect(read.problem).toEqual(isEnded ? null : problem);
  });

  test('a problem of powering off ends where a BMC that said nothing answers again', () => {
    const problem = { message: 'no answer', retryAtMs: nowMs + minute, step: 'powerOff' };
    const silent = applyPower(fenced({ problem }), { host: 'node-1', power: 'Unknown', atMs: nowMs });
    expect(silent.problem).toEqual(problem);
    expect(applyPower(silent, { host: 'node-1', power: 'Unknown', atMs: nowMs + 1 }).problem).toEqual(problem);
    expect(applyPower(silent, { host: 'node-1', power: 'On', atMs: nowMs + 1 }).problem).toBeNull();
  });

  test('local disks are left until a user gives them up', () => {
    const listed = applyServers(fenced(down), [
      candidate('a'),
      candidate('b', { localDiskGiB: 5 }),
      candidate('c', { imageTags: ['amphora'], localDiskGiB: 5 }),
    ]);
    expect(listed.servers?.map(({ state }) => state)).toEqual(['pending', 'left', 'left']);
    expect(
      applyDiskConsents(
        listed,
        ['b', 'c'].map((id) => ({ id, person: 'jane', atMs: nowMs })),
      ).servers?.map(({ state }) => state),
    ).toEqual(['pending', 'pending', 'left']);
  });

  test('the pause has an end, and a user who asks for a retry ends it', () => {
    const settings = { ...fencingDefaults, maxAttempts: 20 };
    const many = applyEvacuation(
      fenced({ ...going(tracked('a', 'pending', { attempts: 11 })), settings }),
      'a',
      failed,
      nowMs,
    );
    expect(many.servers?.[0]?.retryAtMs).toBe(nowMs + 600_000);
    expect(resetProblems(many).servers?.[0]).toMatchObject({ state: 'pending', attempts: 12, retryAtMs: null });
  });

  test('a failed evacuation is tried again, and left after the last time', () => {
    let state = applyServers(fenced(down), [candidate('a')]);
    for (const [expected, pauseMs] of [
      ['pending', 30_000],
      ['pending', 60_000],
      ['left', null],
    ] as const) {
      state = applyEvacuation(state, 'a', failed, nowMs);
      expect(state.servers?.[0]).toMatchObject({
        state: expected,
        why: 'No valid host was found',
        retryAtMs: pauseMs === null ? null : nowMs + pauseMs,
      });
    }
    expect(applyDiskConsents(state, [{ id: 'a', person: 'jane', atMs: nowMs }]).servers?.[0]?.state).toBe('left');
  });

  test('one that was put off, as by a stop, loses no attempt however often that happens', () => {
    const putOff = { outcome: 'putOff', why: 'Everything was stopped by jane' } as const;
    let state = applyEvacuation(applyServers(fenced(down), [candidate('a')]), 'a', failed, nowMs);
    for (let again = 0; again < 10; again += 1) {
      state = applyEvacuation(state, 'a', putOff, nowMs + again * minute);
      expect(state.servers?.[0]).toMatchObject({
        state: 'pending',
        attempts: 1,
        why: putOff.why,
        retryAtMs: nowMs + again * minute + fencingDefaults.retryMs,
      });
    }
    expect(applyEvacuation(state, 'a', failed, nowMs).servers?.[0]).toMatchObject({ state: 'pending', attempts: 2 });
  });

  test('what is in flight is evacuating, and nothing else; its attempt counts when it has ended', () => {
    const state = applyServers(fenced(down), [candidate('a'), candidate('b')]);
    const flying = withInFlight(state, new Set(['a', 'other']));
    expect(flying.servers?.map(({ state: its }) => its)).toEqual(['evacuating', 'pending']);
    const evacuated = { outcome: 'evacuated', why: null } as const;
    expect(applyEvacuation(state, 'a', evacuated, nowMs).servers?.[0]).toMatchObject({
      state: 'evacuated',
      attempts: 1,
    });
  });
});

const disk = { localDiskGiB: 5 };
const listed = applyServers(fencingOf({ forcedDown: true }), [
  candidate('a', disk),
  candidate('b', disk),
  candidate('volume'),
  candidate('amphora', { ...disk, imageTags: ['amphora'] }),
  candidate('building', { ...disk, vmState: 'building' }),
  candidate('c', { ...disk, name: 'twin' }),
  candidate('d', { ...disk, name: 'twin' }),
]);
const given = applyDiskConsents(listed, [{ id: 'a', person: 'joe', atMs: openedAtMs }]);

const disks: [
  what: string,
  change: Partial<AbandonDisks>,
  state: typeof listed,
  message: RegExp,
  accepted: string[] | null,
][] = [
  ['by id', { instances: ['a'] }, listed, /^Accepted: jane gives up the local disks of vm-a\./u, ['a']],
  ['by name', { instances: ['vm-b'] }, listed, /vm-b/u, ['b']],
  ['several', { instances: ['a', 'vm-b'] }, listed, /vm-a, vm-b/u, ['a', 'b']],
  ['another incident', { incident: 'node-1/0' }, listed, /the one at hand is node-1\/1/u, null],
  ['before they are listed', {}, fencingOf(), /have not been listed/u, null],
  ['another host’s', { instances: ['elsewhere'] }, listed, /elsewhere is no server of node-1/u, null],
  ['a name that two have', { instances: ['twin'] }, listed, /any of c, d/u, null],
  ['which of them, by id', { instances: ['d'] }, listed, /twin/u, ['d']],
  ['one on volumes', { instances: ['volume'] }, listed, /has no disks on the host/u, null],
  ['given up already', { instances: ['a'] }, given, /given up already/u, null],
  [
    'one whose image is excluded',
    { instances: ['amphora'] },
    listed,
    /would stay all the same: its image has the tag amphora/u,
    null,
  ],
  ['one that Nova does not evacuate', { instances: ['building'] }, listed, /state building/u, null],
  ['all or none', { instances: ['a', 'volume'] }, listed, /vm-volume has no disks/u, null],
];
test.each(disks)('%s', (_what, change, state, message, accepted) => {
  const decision = judgeDiskConsent(
    { incident: incident.id, instances: ['a'], person: 'jane', ...change },
    state,
    openedAtMs + 1,
  );
  expect(decision.message).toMatch(message);
  expect(decision.accepted).toEqual(accepted?.map((id) => ({ id, person: 'jane', atMs: openedAtMs + 1 })) ?? null);
});
