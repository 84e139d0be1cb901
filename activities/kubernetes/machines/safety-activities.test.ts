import { ApplicationFailure } from '@temporalio/common';

import type { Machine } from '../../../contracts/crds/machine.ts';
import { notKnownYet } from '../../../contracts/machine-safety/judge-api-servers.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { openVirtual } from '../../../test/contracts/hosts/subject.ts';
import { createFakeKubernetes } from '../../../test/fakes/kubernetes/fake-kubernetes.ts';
import {
  applyMachine,
  applyMachineSet,
  machineNamespace as namespace,
  openMachineNamespace,
  safetySample,
} from '../../../test/fixtures/activities/machines.ts';
import { testScope } from '../../../test/fixtures/activities/nova.ts';
import { checkOvershoot } from './check-overshoot.ts';
import { createSafetyActivities } from './safety-activities.ts';
import type { SafetyDependencies } from './tools.ts';

const thawed = { frozen: false, reason: '', inactiveSinceMs: null, probedMs: 0 };

function open(change: Partial<SafetyDependencies> = {}) {
  const virtual = openVirtual();
  const { clock } = virtual;
  const kubernetes = createFakeKubernetes(virtual);
  const beats: unknown[] = [];
  const scope = () =>
    testScope({
      deadlineMs: clock.now() + 3_600_000,
      heartbeat: (details) => void beats.push(structuredClone(details)),
    });
  const sample = safetySample({ clock, kubernetes: kubernetes.client }, { scope, ...change });
  return { ...virtual, kubernetes, beats, ...sample, activities: createSafetyActivities(sample.dependencies) };
}

const status = (code: number, reason: string, details: object = {}): string =>
  JSON.stringify({ kind: 'Status', message: reason, reason, code, details });
const answers = (error: Error | null): Pick<SafetyDependencies['control'], 'get'> => ({
  get: async () => {
    if (error !== null) throw error;
    return null;
  },
});

test.each<[string, Error | null, boolean]>([
  ['there is no such object', null, true],
  ['no connection', droverFailure('KubernetesUnavailable', 'connect ECONNREFUSED'), false],
  ['500', refusalFailure(500, status(500, 'InternalError'), 'GET'), false],
  ['503', refusalFailure(503, status(503, 'ServiceUnavailable'), 'GET'), false],
  ['429', refusalFailure(429, status(429, 'TooManyRequests'), 'GET'), false],
  ['401', refusalFailure(401, status(401, 'Unauthorized'), 'GET'), false],
  ['403', refusalFailure(403, status(403, 'Forbidden'), 'GET'), false],
  ['a kind that is not served', refusalFailure(404, status(404, 'NotFound'), 'GET'), false],
  ['the page of a proxy', refusalFailure(404, '<html>', 'GET'), false],
  ['no JSON', droverFailure('AnswerMalformed', 'no JSON'), false],
])('what one API server answers: %s', async (_, error, isUp) => {
  const { run, activities } = open({ target: answers(error) });
  const { state } = await run(() => activities.probeApiServers({ namespace, state: isUp ? null : thawed }));
  expect(state.frozen).toBe(!isUp);
  if (isUp) return;
  expect(state.reason).toContain('The target API server');
  // What to do about it is said where a user has to do something.
  expect(state.reason).not.toContain('drover keeps trying');
});

test('a server that takes too long is not up, and costs no more than its time-out', async () => {
  const hang: SafetyDependencies['control']['get'] = (_resource, _key, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { run, activities, clock } = open({ target: { get: hang } });
  const beganMs = clock.now();
  const { state } = await run(() => activities.probeApiServers({ namespace, state: thawed }));
  expect(state).toMatchObject({ frozen: true, inactiveSinceMs: beganMs });
  expect(state.reason).toContain('no answer within 10 s');
  expect(clock.now() - beganMs).toBeLessThan(70_000);
});

test('a state that is none is not believed', async () => {
  const { run, activities, beats } = open({ leaving: AbortSignal.abort() });
  const round = await run(() => activities.probeApiServers({ namespace, state: { frozen: 'no' } as never }));
  expect(beats[0]).toEqual({ ...notKnownYet, servers: null });
  expect(round).toMatchObject({ wanted: true, state: { frozen: false } });
});

test('a worker that is about to stop hands over, and shows nothing more', async () => {
  const leaving = new AbortController();
  const { run, activities, clock, shown } = open({ leaving: leaving.signal });
  const round = await run(async () => {
    const work = activities.probeApiServers({ namespace, state: thawed });
    await clock.sleep(90_000);
    expect(shown.get(namespace)).toBe(false);
    leaving.abort();
    return await work;
  });
  expect(round).toMatchObject({ wanted: true, state: { frozen: false } });
  expect(shown.has(namespace)).toBe(false);
});

test('what is to be thawed is shown as frozen until no Machine is Unknown, and not by a worker that leaves', async () => {
  const { run, activities, kubernetes, shown } = open();
  await run(async () => {
    await openMachineNamespace(kubernetes.admin);
    await applyMachine(kubernetes.admin, 'worker-1', 'Unknown');
    expect(await activities.probeApiServers({ namespace, state: notKnownYet })).toMatchObject({
      state: { frozen: false },
    });
    expect(shown.get(namespace)).toBe(true);
    expect(await activities.resetUnknownMachines({ namespace })).toEqual({ reset: 1 });
    expect(shown.has(namespace)).toBe(false);
  });
  const leaving = open({ leaving: AbortSignal.abort() });
  await leaving.run(() => leaving.activities.probeApiServers({ namespace, state: notKnownYet }));
  expect(leaving.shown.has(namespace)).toBe(false);
});

test.each(['observe', 'off'] as const)('where the mode is %s, nothing stays shown as frozen', async (mode) => {
  const { run, activities, shown } = open({ mode });
  await run(() => activities.probeApiServers({ namespace, state: notKnownYet }));
  expect(shown.has(namespace)).toBe(mode === 'observe');
  expect(await run(() => activities.resetUnknownMachines({ namespace }))).toEqual({ reset: 0 });
  expect(shown.has(namespace)).toBe(false);
});

test.each([undefined, null, {}, { namespace: '' }, { namespace: 3 }])('%p names no namespace', async (input) => {
  const { activities } = open();
  await expect(activities.probeApiServers(input as never)).rejects.toMatchObject({ type: 'InvalidInput' });
  await expect(activities.resetUnknownMachines(input as never)).rejects.toMatchObject({ type: 'InvalidInput' });
});

test('a namespace that the settings do not name is not watched', async () => {
  const { run, activities } = open();
  expect(await run(() => activities.probeApiServers({ namespace: 'other', state: null }))).toMatchObject({
    wanted: false,
  });
  expect(await run(() => activities.resetUnknownMachines({ namespace: 'other' }))).toEqual({ reset: 0 });
});

test('a Machine that another client changes meanwhile is read again, and left alone where it is not Unknown any more', async () => {
  let changes = 0;
  const world = open({
    stopGate: async () => {
      changes += 1;
      // Between the read and the write, once for each.
      if (changes === 1) await applyMachine(kubernetes.admin, 'worker-1', 'Unknown', { labels: { a: 'b' } });
      if (changes === 2) await applyMachine(kubernetes.admin, 'worker-1', 'Failed');
    },
  });
  const { run, activities, kubernetes, audit } = world;
  await run(async () => {
    await openMachineNamespace(kubernetes.admin);
    await applyMachine(kubernetes.admin, 'worker-1', 'Unknown');
    expect(await activities.resetUnknownMachines({ namespace })).toEqual({ reset: 0 });
  });
  const { status: there } = kubernetes.object('machines', { namespace, name: 'worker-1' }) as unknown as Machine;
  expect(there?.currentStatus?.phase).toBe('Failed');
  expect(audit).toEqual([]);
});

test('nothing is reset while drover is stopped, and all is shown as frozen', async () => {
  const { run, activities, kubernetes, audit, shown } = open({
    stopGate: () => Promise.reject(droverFailure('Stopped', 'Everything was stopped')),
  });
  await run(async () => {
    await openMachineNamespace(kubernetes.admin);
    await applyMachine(kubernetes.admin, 'worker-1', 'Unknown');
    await expect(activities.resetUnknownMachines({ namespace })).rejects.toBeInstanceOf(ApplicationFailure);
  });
  expect(audit).toEqual([]);
  expect(shown.get(namespace)).toBe(true);
});

test('what an overshoot check cannot do is said, and tried again with the next one', async () => {
  const leaving = new AbortController();
  const { run, dependencies, network, clock } = open({ leaving: leaving.signal });
  const warnings: string[] = [];
  const scope = testScope({ deadlineMs: clock.now() + 3_600_000, warn: (message) => void warnings.push(message) });
  network.setAway('kubernetes', true);
  const round = await run(async () => {
    const work = checkOvershoot({ ...dependencies, scope }, { namespace });
    await clock.sleep(150_000);
    network.setAway('kubernetes', false);
    await clock.sleep(60_000);
    leaving.abort();
    return await work;
  });
  expect(warnings[0]).toContain('MachineSets of shoot could not be checked');
  expect(round).toEqual({ wanted: true, sets: 0, frozen: [], changed: 0, trouble: null });
});

test('where drover only observes, it says what it would freeze, and an odd MachineSet holds nothing up', async () => {
  const leaving = new AbortController();
  const world = open({ mode: 'observe', leaving: leaving.signal });
  const { run, dependencies, kubernetes, clock, audit } = world;
  const list: SafetyDependencies['control']['list'] = async (resource, query, signal) => {
    const found = await dependencies.control.list(resource, query, signal);
    return resource.kind === 'MachineSet' ? [...found, { metadata: { name: 'odd' } } as never] : found;
  };
  const round = await run(async () => {
    await openMachineNamespace(kubernetes.admin);
    await applyMachineSet(kubernetes.admin, 'pool', { replicas: 0 });
    const { uid = '' } = kubernetes.object('machinesets', { namespace, name: 'pool' })?.metadata ?? {};
    const ownerReferences = [{ apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'MachineSet', name: 'pool', uid }];
    for (const name of ['a', 'b'])
      await applyMachine(kubernetes.admin, name, 'Running', { ownerReferences, labels: { pool: 'pool' } });
    const scope = testScope({ deadlineMs: clock.now() + 3_600_000 });
    const work = checkOvershoot({ ...dependencies, control: { ...dependencies.control, list }, scope }, { namespace });
    await clock.sleep(1_000);
    leaving.abort();
    return await work;
  });
  expect(round).toMatchObject({
    sets: 1,
    frozen: [],
    changed: 0,
    trouble:
      'Not as their schema says, and left alone: MachineSet odd. MachineSet pool would be frozen: drover only observes Machines.',
  });
  expect(audit).toEqual([]);
});
