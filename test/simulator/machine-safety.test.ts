import { createOvershootActivities } from '../../activities/kubernetes/machines/overshoot-activities.ts';
import { createSafetyActivities } from '../../activities/kubernetes/machines/safety-activities.ts';
import type { Machine } from '../../contracts/crds/machine.ts';
import type { MachineSet } from '../../contracts/crds/machine-set.ts';
import { apiServerSafetyId, machinesQueue, overshootSafetyId, workflowQueue } from '../../contracts/ids.ts';
import { type Freeze, safetyMemo } from '../../contracts/machine-safety/api-server-safety.ts';
import { messages, progressQuery } from '../../contracts/messages.ts';
import { withClock } from '../../lab/clock.ts';
import { mergeObject } from '../../lab/kubernetes-objects.ts';
import { parseConfig } from '../../runtime/config/config.ts';
import { createReadFreeze } from '../../runtime/temporal/read-freeze.ts';
import { startMachineSafety } from '../../runtime/temporal/system-workflows.ts';
import { createFakeKubernetes, type FakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import {
  applyMachine,
  applyMachineDeployment,
  applyMachineSet,
  machineNamespace as namespace,
  openMachineNamespace,
  safetySample,
  type SafetySample,
} from '../fixtures/activities/machines.ts';
import { loadWorkflows } from './bundle.ts';
import { simulatedCommand } from './command.ts';
import type { Deployment } from './deployment.ts';
import { createSimulation, type SimulationOptions } from './simulation.ts';

/**
 * The system workflows of Machines with their activities, over a kube-apiserver in memory that goes away
 * and comes back.
 */

const never = new AbortController().signal;
const safetyId = apiServerSafetyId(namespace);
const minute = 60_000;
const config = parseConfig({ modes: { Machine: 'act' }, machines: { namespaces: [namespace] } }, {}, {});

async function open({
  change = {},
  ...options
}: Partial<SimulationOptions> & { change?: Parameters<typeof safetySample>[1] } = {}) {
  let kubernetes: FakeKubernetes | null = null;
  let sample: SafetySample | null = null;
  const simulation = createSimulation({
    bundle: await loadWorkflows(),
    seed: 1,
    serve(running) {
      kubernetes ??= createFakeKubernetes(running);
      sample ??= safetySample({ clock: running.clock, kubernetes: kubernetes.client }, change);
      return [
        {
          taskQueue: machinesQueue(''),
          activities: {
            ...createSafetyActivities(sample.dependencies),
            ...createOvershootActivities(sample.dependencies),
          },
        },
      ];
    },
    ...options,
  });
  const { admin } = kubernetes as unknown as FakeKubernetes;
  const there = sample as unknown as SafetySample;
  const { client, clock, network } = simulation;
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    simulation.run(withClock(clock, work), 24 * 60 * minute) as Promise<Result>;
  const readFreeze = createReadFreeze({
    temporal: client,
    cluster: '',
    clock,
    settings: there.dependencies.settings.apiServers,
  });
  const handle = client.workflow.getHandle(safetyId);
  const start = (): Promise<void> => startMachineSafety(client, { namespaces: [namespace], cluster: '' }, { clock });
  await run(async () => {
    await openMachineNamespace(admin);
    await start();
  });
  return {
    simulation,
    admin,
    ...there,
    handle,
    run,
    pass: (ms: number) => run(() => clock.sleep(ms)),
    start: () => run(start),
    freeze: (): Promise<Freeze> => run(() => readFreeze(namespace, never)),
    command: (...args: string[]) =>
      run(() => simulatedCommand({ simulation, kubernetes, config } as unknown as Deployment, args)),
    setAway: (isAway: boolean) => network.setAway('kubernetes', isAway),
    machine: (name: string) =>
      (kubernetes as unknown as FakeKubernetes).object('machines.machine.sapcloud.io', {
        namespace,
        name,
      }) as unknown as Machine,
    set: (name: string) =>
      (kubernetes as unknown as FakeKubernetes).object('machinesets', { namespace, name }) as unknown as MachineSet,
    uid: (plural: string, name: string): string =>
      (kubernetes as unknown as FakeKubernetes).object(plural, { namespace, name })?.metadata.uid ?? '',
    events: (reason: string) =>
      (kubernetes as unknown as FakeKubernetes)
        .objects('events')
        .map((event) => event as unknown as { reason: string; note: string; regarding: { kind: string; name: string } })
        .filter((event) => event.reason === reason),
    record: (id: string) => simulation.runs().findLast(({ workflowId }) => workflowId === id),
  };
}

test('Machines are frozen until all API servers have answered, while one does not, and not a moment longer', async () => {
  const world = await open();
  const { pass, freeze, setAway, machine, run, admin } = world;
  expect(await freeze()).toMatchObject({ state: 'unknown', reason: expect.stringContaining('does not say yet') });
  await pass(5_000);
  expect(await freeze()).toEqual({ state: 'thawed' });
  expect(world.record(safetyId)).toMatchObject({
    status: 'RUNNING',
    attributes: { DroverKind: 'ApiServerSafety', DroverObject: namespace, DroverPhase: 'Thawed' },
    memo: { [safetyMemo]: { frozen: false }, startedBy: 'a worker' },
  });
  await run(() => applyMachine(admin, 'worker-1', 'Unknown'));
  await run(() => applyMachine(admin, 'worker-2', 'Failed'));
  await pass(3 * minute);
  expect(await freeze()).toEqual({ state: 'thawed' });
  expect(world.shown.get(namespace)).toBe(false);

  setAway(true);
  // A probe a minute, and the first that fails begins the time-out.
  await pass(minute + 15_000);
  expect(await freeze()).toMatchObject({ state: 'unknown', reason: expect.stringContaining('control API server') });
  await pass(40_000);
  expect(await freeze()).toMatchObject({
    state: 'frozen',
    sinceMs: expect.any(Number) as number,
    reason: expect.stringMatching(/The control API server .*Not all API servers have answered since 2026-/u),
  });
  expect(world.record(safetyId)).toMatchObject({
    attributes: { DroverPhase: 'Frozen', DroverReason: 'ApiServerUnreachable' },
  });
  expect(await run(() => world.handle.query(progressQuery<object>()))).toMatchObject({
    state: { frozen: true },
    namespace,
  });
  expect(world.shown.get(namespace)).toBe(true);
  await pass(10 * minute);
  expect(machine('worker-1').status?.currentStatus?.phase).toBe('Unknown');

  setAway(false);
  await pass(minute + 5_000);
  expect(await freeze()).toEqual({ state: 'thawed' });
  expect(machine('worker-1').status).toMatchObject({
    currentStatus: { phase: 'Running', timeoutActive: false, preserveExpiryTime: '2026-03-01T00:00:00Z' },
    lastOperation: {
      description: 'Machine Health Timeout was reset due to APIServer being unreachable',
      state: 'Successful',
      type: 'HealthCheck',
    },
  });
  expect(machine('worker-1').status?.lastOperation?.errorCode).toBeUndefined();
  expect(machine('worker-2').status?.currentStatus?.phase).toBe('Failed');
  expect(world.audit).toMatchObject([{ action: 'resetUnknownMachines', object: 'machine/shoot/worker-1' }]);
  expect(world.events('HealthTimeoutReset')).toHaveLength(1);
  expect(world.record(safetyId)?.taskFailures).toEqual([]);
  await world.simulation.replay();
  world.simulation.close();
});

test('the target API server counts as much, and two short outages do not add up', async () => {
  const { simulation, pass, freeze, target } = await open();
  await pass(5_000);
  for (let outage = 0; outage < 3; outage += 1) {
    target.isUp = false;
    await pass(minute + 20_000);
    expect((await freeze()).state).toBe('unknown');
    target.isUp = true;
    await pass(8_000);
    expect(await freeze()).toEqual({ state: 'thawed' });
  }
  target.isUp = false;
  await pass(2 * minute);
  expect(await freeze()).toMatchObject({ state: 'frozen', reason: expect.stringContaining('target API server') });
  simulation.close();
});

test('a freeze outlives workers, and a worker that dies meanwhile freezes nothing by itself', async () => {
  const { simulation, pass, freeze, setAway } = await open();
  await pass(5_000);
  simulation.killWorker(60_000);
  await pass(20_000);
  expect(await freeze()).toEqual({ state: 'thawed' });
  await pass(20_000);
  expect(await freeze()).toMatchObject({ state: 'unknown', reason: expect.stringContaining('No worker') });
  await pass(35_000);
  expect(await freeze()).toEqual({ state: 'thawed' });

  setAway(true);
  await pass(minute + 10_000);
  // It has begun to count: the next worker goes on with that.
  simulation.killWorker(2_000);
  await pass(50_000);
  expect((await freeze()).state).toBe('frozen');
  simulation.killWorker(10 * minute);
  setAway(false);
  await pass(5 * minute);
  expect((await freeze()).state).toBe('frozen');
  await pass(7 * minute);
  expect(await freeze()).toEqual({ state: 'thawed' });
  simulation.close();
});

test('without its run the state is unknown, and one that begins anew is frozen first', async () => {
  const world = await open();
  const { simulation, pass, freeze, handle, run, start } = world;
  await pass(5_000);
  await run(() => handle.terminate('test'));
  expect(await freeze()).toMatchObject({ state: 'unknown', reason: expect.stringContaining('has ended') });
  world.target.isUp = false;
  await start();
  await pass(5 * minute);
  expect(await freeze()).toMatchObject({ state: 'frozen', reason: expect.stringContaining('target') });
  world.target.isUp = true;
  await pass(2 * minute);
  expect(await freeze()).toEqual({ state: 'thawed' });
  simulation.close();
});

test('Machines that cannot be reset keep all frozen, and a retry by a user comes at once', async () => {
  let isStuck = true;
  const { simulation, pass, freeze, handle, run, machine, admin, shown } = await open({
    onActivity: ({ activity }) => (activity === 'resetUnknownMachines' && isStuck ? 'failBefore' : 'works'),
  });
  await run(() => applyMachine(admin, 'worker-1', 'Unknown'));
  for (let minutes = 0; minutes < 10; minutes += 1) {
    await pass(minute);
    expect(shown.get(namespace)).toBe(true);
  }
  expect(await freeze()).toMatchObject({
    state: 'frozen',
    reason: expect.stringContaining('could not be set to Running'),
  });
  isStuck = false;
  await run(() => handle.executeUpdate(messages.retryNow, { args: [{ by: 'test' }] }));
  await pass(minute);
  expect(await freeze()).toEqual({ state: 'thawed' });
  expect(shown.get(namespace)).toBe(false);
  expect(machine('worker-1').status?.currentStatus?.phase).toBe('Running');
  simulation.close();
});

test('drover safety says what is known, also while kube-apiserver is away', async () => {
  const { simulation, pass, command, setAway, run, admin } = await open({ change: { mode: 'observe' } });
  await run(() => applyMachineSet(admin, 'pool', { replicas: 1, metadata: { labels: { freeze: 'True' } } }));
  await pass(30_000);
  expect((await command('safety')).stdout).toMatch(/^shoot +thawed +- +\d+s +up +up +pool$/mu);
  setAway(true);
  await pass(3 * minute);
  const { code, stdout, stderr } = await command('safety', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual([
    {
      namespace,
      state: 'frozen',
      since: expect.stringMatching(/^2026-/u) as string,
      reason: expect.stringContaining('The control API server') as string,
      lastProbe: expect.stringMatching(/^2026-/u) as string,
      control: false,
      target: true,
      frozenMachineSets: null,
    },
  ]);
  expect(stderr).toContain('Which MachineSets are frozen is not shown');
  expect((await command('safety', '-n', 'other')).stdout).toMatch(/^other +unknown/mu);
  simulation.close();
});

test('where drover only observes, Machines are left as they are', async () => {
  const { simulation, pass, freeze, run, machine, admin } = await open({ change: { mode: 'observe' } });
  await run(() => applyMachine(admin, 'worker-1', 'Unknown'));
  await pass(minute);
  expect(await freeze()).toEqual({ state: 'thawed' });
  expect(machine('worker-1').status?.currentStatus?.phase).toBe('Unknown');
  simulation.close();
});

test('it ends where it is not wanted, and refuses an input that names nothing', async () => {
  const { simulation, pass, record, freeze } = await open({ change: { mode: 'off' } });
  await pass(5_000);
  expect(record(safetyId)).toMatchObject({ status: 'COMPLETED', result: { outcome: 'SwitchedOff' } });
  expect(record(overshootSafetyId(namespace))).toMatchObject({
    status: 'COMPLETED',
    result: { outcome: 'SwitchedOff' },
  });
  expect((await freeze()).state).toBe('unknown');
  const { client } = simulation;
  for (const [type, args] of [
    ['watchApiServers', []],
    ['watchApiServers', [{}]],
    ['watchOvershoot', ['shoot']],
    ['watchApiServers', [{ namespace }, { frozen: false, reason: '', inactiveSinceMs: null, probedMs: 0 }]],
  ] as const)
    await expect(
      simulation.run(
        client.workflow.execute(type, { workflowId: 'by-hand', taskQueue: workflowQueue(''), args: [...args] }),
      ),
    ).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  simulation.close();
});

test('a long time costs a handful of events an hour, and the freeze goes on in the next run', async () => {
  const { simulation, pass, freeze, target, record } = await open({ longHistory: 20 });
  await pass(5_000);
  target.isUp = false;
  await pass(5 * 60 * minute);
  expect((await freeze()).state).toBe('frozen');
  const runs = simulation.runs().filter(({ workflowId }) => workflowId === safetyId);
  expect(runs.length).toBeGreaterThan(1);
  expect(record(safetyId)?.memo[safetyMemo]).toMatchObject({ frozen: true });
  expect(runs.reduce((sum, { events }) => sum + events, 0)).toBeLessThan(5 * 15);
  await simulation.replay();
  simulation.close();
});

test('MachineSets with too many Machines are frozen with their parent, and thaw', async () => {
  const world = await open();
  const { pass, run, admin, set, events } = world;
  const owner = (kind: string, name: string, uid: string) => ({
    apiVersion: 'machine.sapcloud.io/v1alpha1',
    kind,
    name,
    uid,
    controller: true,
  });
  let ofSet = {};
  await run(async () => {
    await applyMachineDeployment(admin, 'pool', { replicas: 1 });
    const deployment = world.uid('machinedeployments', 'pool');
    await applyMachineSet(admin, 'pool-1', {
      replicas: 1,
      metadata: { ownerReferences: [owner('MachineDeployment', 'pool', deployment)] },
    });
    ofSet = {
      ownerReferences: [owner('MachineSet', 'pool-1', world.uid('machinesets', 'pool-1'))],
      labels: { pool: 'pool-1' },
    };
    for (const name of ['pool-1-1', 'pool-1-2', 'pool-1-3', 'pool-1-4'])
      await applyMachine(admin, name, 'Running', ofSet);
  });
  await pass(2 * minute);
  expect(set('pool-1')).toMatchObject({
    metadata: { labels: { freeze: 'True' } },
    status: { machineSetCondition: [{ type: 'Frozen', status: 'True', reason: 'OverShootingReplicaCount' }] },
  });
  expect(events('FrozeMachineSet')).toMatchObject([{ regarding: { kind: 'MachineSet', name: 'pool-1' } }]);
  expect(events('FrozeMachineDeployment')).toHaveLength(1);
  const changed = world.audit.length;
  await pass(10 * minute);
  expect(world.audit).toHaveLength(changed);

  await run(async () => {
    await admin.request(
      { method: 'DELETE', path: `/apis/machine.sapcloud.io/v1alpha1/namespaces/${namespace}/machines/pool-1-4` },
      never,
    );
  });
  await pass(2 * minute);
  expect(set('pool-1').metadata.labels?.['freeze']).toBeUndefined();
  expect(set('pool-1').status?.machineSetCondition).toEqual([]);
  expect(events('UnfrozeMachineSet')).toHaveLength(1);
  expect(events('UnfrozeMachineDeployment')).toHaveLength(1);

  // A user takes a freeze off, for as long as it takes to count again.
  await run(() => applyMachine(admin, 'pool-1-5', 'Running', ofSet));
  await pass(2 * minute);
  expect(set('pool-1').metadata.labels?.['freeze']).toBe('True');
  await run(() =>
    mergeObject(admin, {
      apiVersion: 'machine.sapcloud.io/v1alpha1',
      kind: 'MachineDeployment',
      metadata: { namespace, name: 'pool', annotations: { 'safety.machine.sapcloud.io/unfreeze': 'True' } },
    }),
  );
  await pass(minute);
  expect(events('UnfrozeMachineSet')).toHaveLength(2);
  await pass(2 * minute);
  expect(set('pool-1').metadata.labels?.['freeze']).toBe('True');
  world.simulation.close();
});
