import type { Confirmation } from '../../contracts/node-failure/fencing.ts';
import type { NodeFailureObservation } from '../../contracts/node-failure/activities.ts';
import {
  candidate,
  computeService,
  confirmationAt,
  fencingOf,
  observedHypervisor,
  openedAtMs,
  proofAt,
  silentSigns,
  situationOf,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import { applyServers, type FencingState } from './fencing-state.ts';
import { applyFailure, dismiss, emptyMemory, prune, reopen, resetFailures } from './memory.ts';
import type { Command, NodeFailureMemory } from './types.ts';

const nowMs = openedAtMs + 60_000;
const suspect = fencingOf({ mode: 'recommend', verdict: verdictOf('suspect', 'unknown') });
const confirm = (atMs: number, change: Partial<Confirmation> = {}): Command => {
  const confirmation = confirmationAt(atMs, change);
  return { kind: 'confirmOff', id: confirmation.id, atMs, confirmation };
};
const abandon = (incident: string): Command => ({
  kind: 'abandonDisks',
  id: 'update-2',
  atMs: nowMs,
  abandonment: { incident, instances: ['a'], person: 'jane' },
});
const observe = (fencing: NodeFailureMemory['fencing'], ...commands: Command[]): NodeFailureMemory => {
  const situation = situationOf(fencing, nowMs, { memory: { commands } });
  return prune(situation.memory, situation);
};

describe('commands are answered by an observation', () => {
  test('that was asked for after they came', () => {
    const { commands, answers, fencing, refusal } = observe(suspect, confirm(nowMs));
    expect({ commands, refusal }).toEqual({ commands: [], refusal: null });
    expect(answers).toEqual({ 'update-1': { isAccepted: true, message: expect.stringContaining('Accepted: jane') } });
    expect(fencing?.confirmation).toMatchObject({ person: 'jane' });
  });

  test('and not by an older one', () => {
    const later = confirm(nowMs + 1);
    expect(observe(suspect, later)).toMatchObject({ commands: [later], answers: {}, fencing: { confirmation: null } });
  });

  test('nor before an incident is opened', () => {
    const situation = situationOf(null, nowMs, { memory: { commands: [confirm(nowMs)] }, observed: { nova: null } });
    expect(prune(situation.memory, situation)).toMatchObject({ commands: [{ id: 'update-1' }], answers: {} });
  });

  test('a refused one says why, and changes nothing', () => {
    const { fencing, refusal, answers } = observe(suspect, confirm(nowMs, { incident: 'node-1/0' }));
    expect(fencing?.confirmation).toBeNull();
    expect(refusal).toMatch(/^Refused \(WrongIncident\): /u);
    expect(answers['update-1']).toEqual({ isAccepted: false, message: refusal });
  });

  test('several are judged in their order', () => {
    const listed = applyServers(fencingOf({ ...suspect, forcedDown: true }), [candidate('a', { localDiskGiB: 5 })]);
    const { fencing, answers } = observe(listed, abandon(listed.incident.id), { ...abandon('x'), id: 'update-3' });
    expect(fencing?.servers?.[0]?.state).toBe('pending');
    expect([answers['update-2']?.isAccepted, answers['update-3']?.isAccepted]).toEqual([true, false]);
  });

  test('at the end all that are left are refused', () => {
    const left = dismiss({ ...emptyMemory, commands: [confirm(nowMs), abandon('x')] }, 'node-1 is back');
    expect(left.commands).toEqual([]);
    expect(Object.values(left.answers)).toEqual([
      { isAccepted: false, message: 'Refused: node-1 is back' },
      { isAccepted: false, message: 'Refused: node-1 is back' },
    ]);
  });
});

test('a host that is held by an earlier run is released in the end', () => {
  const hypervisor = { ...observedHypervisor, hold: 'NodeFailure' };
  const situation = situationOf(null, nowMs, { observed: { hypervisor } });
  expect(prune(situation.memory, situation).held).toBe(true);
  const others = situationOf(null, nowMs, { observed: { hypervisor: { ...hypervisor, hold: 'Other' } } });
  expect(prune(others.memory, others).held).toBe(false);
});

describe('a host that has booted within its incident, and is silent again', () => {
  const silent = { node: { ready: 'Unknown', bootId: 'boot-2' }, power: 'Unknown' } as const;
  const rebooted = (
    fencing: Partial<FencingState> = {},
    observed: Partial<NodeFailureObservation> = {},
    memory: Partial<NodeFailureMemory> = {},
  ) => {
    const situation = situationOf(fencingOf({ ...suspect, ...fencing }), nowMs, {
      memory,
      observed: { ...silent, ...observed },
    });
    return prune(situation.memory, situation);
  };
  const old = suspect.incident;
  const opened = { id: 'node-1/1970-01-01T00:17:40.000Z', host: 'node-1', bootId: 'boot-2', openedAtMs: nowMs };

  test('is another incident, which can be confirmed', () => {
    const memory = rebooted();
    const { fencing } = memory;
    expect(fencing).toMatchObject({ incident: opened, recommended: null, verdict: { verdict: 'suspect' } });
    const answerTo = (change: Partial<Confirmation>) => {
      const given = { ...memory, commands: [confirm(nowMs, change)] };
      const next = prune(given, situationOf(fencing, nowMs + 1, { memory: given, observed: silent }));
      expect(next.fencing?.incident).toEqual(opened);
      return next.answers['update-1'];
    };
    expect(answerTo({ incident: opened.id, bootId: 'boot-2' })).toMatchObject({ isAccepted: true });
    expect(answerTo({ incident: opened.id, bootId: 'boot-1' })).toMatchObject({ isAccepted: false });
    expect(answerTo({ incident: old.id, bootId: 'boot-2' })).toMatchObject({ isAccepted: false });
  });

  test('has whatever was known of it: that its BMC says On still refuses a confirmation', () => {
    const power = { host: 'node-1', power: 'On', atMs: nowMs - 1_000 } as const;
    const command = confirm(nowMs, { incident: opened.id, bootId: 'boot-2' });
    const { fencing, refusal } = rebooted({ power }, { power: null }, { commands: [command] });
    expect(fencing).toMatchObject({ incident: opened, power });
    expect(refusal).toMatch(/^Refused \(PowerOn\): /u);
  });

  const claimed = [{ host: 'node-1', incident: old.id, atMs: nowMs - 1_000 }];
  const { fleet } = situationOf(null, nowMs).observed;
  const stays: [
    why: string,
    fencing: Partial<FencingState>,
    observed?: Partial<NodeFailureObservation>,
    memory?: Partial<NodeFailureMemory>,
  ][] = [
    ['its boot is the same', {}, { node: { ready: 'Unknown', bootId: 'boot-1' } }],
    ['its boot is not reported', {}, { node: { ready: 'Gone', bootId: null } }],
    ['its Node could not be read', {}, { node: null }],
    [
      'it is well',
      {},
      {
        node: { ready: 'True', bootId: 'boot-2' },
        compute: { state: 'up' },
        libvirt: { verdict: 'healthy', message: '' },
      },
    ],
    ['it was confirmed', { confirmation: confirmationAt(nowMs) }],
    ['a confirmation was used', { usedConfirmations: ['update-1'] }],
    ['there is evidence', { evidence: { by: 'power', proof: proofAt(openedAtMs) } }],
    ['its boot was fenced', { fencedBootId: 'boot-1' }],
    ['its servers were listed', { servers: [] }],
    ['an Eviction empties it', { handedOver: true }],
    ['it is restored', { restored: true }],
    ['it is forced down', {}, { nova: { host: 'node-1', service: { ...computeService, forcedDown: true } } }],
    ['Nova could not be read', {}, { nova: null }],
    ['its Hypervisor could not be read', {}, { hypervisor: null }],
    ['it is held', {}, { hypervisor: { ...observedHypervisor, hold: 'NodeFailure' } }],
    ['it was held', {}, {}, { held: true }],
    ['its silence was claimed', {}, { fleet: { ...fleet, silentFencings: claimed } }],
    ['it is not known whether it was', {}, { fleet: { ...fleet, silentFencings: null } }],
  ];
  test.each(stays)('is the same incident where %s', (_why, ...change) => {
    expect(rebooted(...change).fencing?.incident).toEqual(old);
  });
  test('is the same incident where drover has forced it down, and is confirmed by the boot that it has now', () => {
    expect(rebooted({ forcedDown: true }).fencing?.incident).toEqual({ ...old, bootId: 'boot-2' });
  });
});

test('since when Nova has the host no more is counted from the first list that lacks it, in a row', () => {
  const lacking = { nova: null, compute: null, hasLeftNova: true };
  const first = situationOf(null, nowMs, { observed: lacking });
  expect(prune(first.memory, first).leftNovaMs).toBe(nowMs);
  const second = situationOf(null, nowMs + 1, { memory: { leftNovaMs: nowMs }, observed: lacking });
  expect(prune(second.memory, second).leftNovaMs).toBe(nowMs);
  const unread = situationOf(null, nowMs + 2, { memory: { leftNovaMs: nowMs }, observed: { nova: null } });
  expect(prune(unread.memory, unread).leftNovaMs).toBeNull();
});

test('what comes after the end is another incident', () => {
  const over = { ...emptyMemory, fencing: fencingOf({ restored: true }), failures: 3 };
  const situation = situationOf(null, nowMs, {
    memory: reopen(over),
    observed: { nova: { host: 'node-1', service: computeService } },
  });
  expect(prune(situation.memory, situation)).toMatchObject({
    failures: 0,
    fencing: { restored: false, incident: { openedAtMs: nowMs }, verdict: { verdict: 'watch' } },
  });
});

test('a step that failed waits longer each time, until a user asks for a retry', () => {
  const step = { kind: 'powerOff', phase: 'Dead', summary: '', cause: '', isSilent: false } as const;
  const problem = { code: null, reason: 'Unexpected', message: 'The BMC is away.' };
  const once = applyFailure({ ...emptyMemory, fencing: fencingOf() }, step, problem, nowMs);
  expect(once).toMatchObject({ failures: 1, fencing: { problem: { step: 'powerOff', retryAtMs: nowMs + 10_000 } } });
  const twice = applyFailure(once, step, problem, nowMs);
  expect(twice.fencing?.problem?.retryAtMs).toBe(nowMs + 20_000);
  expect(resetFailures(twice)).toMatchObject({ failures: 0, fencing: { problem: null } });
});

test('a host that has power again though it was to be off may be booting: it is as old as that', () => {
  const step = { kind: 'powerOff', phase: 'Silent', summary: '', cause: '', isSilent: true } as const;
  const witnesses = [
    { kind: 'bmc', says: 'powered', message: 'it says On', sinceMs: 0, atMs: 0 },
    { kind: 'nova', says: 'silent', message: 'it is down', sinceMs: 0, atMs: 0 },
  ] as const;
  const fencing = fencingOf({ signs: { ...silentSigns, witnesses: [...witnesses] } });
  const failed = (code: 'PowerStillOn' | 'BmcUnreachable') =>
    applyFailure({ ...emptyMemory, fencing }, step, { code, reason: code, message: 'x' }, nowMs).fencing?.signs
      .witnesses;
  expect(failed('PowerStillOn')).toEqual([{ ...witnesses[0], sinceMs: nowMs }, witnesses[1]]);
  expect(failed('BmcUnreachable')).toEqual(witnesses);
});

test('a step that a stop refuses waits for 1 min at most', () => {
  const step = { kind: 'powerOff', phase: 'Dead', summary: '', cause: '', isSilent: true } as const;
  const problem = { code: 'Stopped', reason: 'Stopped', message: 'jane has stopped it.' } as const;
  const after = applyFailure({ ...emptyMemory, fencing: fencingOf(), failures: 20 }, step, problem, nowMs);
  expect(after.fencing?.problem?.retryAtMs).toBe(nowMs + 60_000);
});
