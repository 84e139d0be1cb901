import type { Confirmation } from '../../contracts/node-failure/fencing.ts';
import {
  candidate,
  computeService,
  confirmationAt,
  fencingOf,
  observedHypervisor,
  openedAtMs,
  situationOf,
  verdictOf,
} from '../../test/fixtures/workflows/fencing.ts';
import { applyServers } from './fencing-state.ts';
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

test('a step that a stop refuses waits for 1 min at most', () => {
  const step = { kind: 'powerOff', phase: 'Dead', summary: '', cause: '', isSilent: true } as const;
  const problem = { code: 'Stopped', reason: 'Stopped', message: 'jane has stopped it.' } as const;
  const after = applyFailure({ ...emptyMemory, fencing: fencingOf(), failures: 20 }, step, problem, nowMs);
  expect(after.fencing?.problem?.retryAtMs).toBe(nowMs + 60_000);
});
