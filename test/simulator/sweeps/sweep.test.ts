import { Client } from '@temporalio/client';
import { createSweepActivities } from '../../../activities/machines/sweep/sweep-activities.ts';
import {
  machinesQueue,
  orphanSweepDryId,
  orphanSweepId,
  workflowQueue,
  workflowTypes,
} from '../../../contracts/ids.ts';
import { machineKind } from '../../../contracts/kinds/machine.ts';
import type { Freeze } from '../../../contracts/machine-safety/api-server-safety.ts';
import type { Leftover, ListedVm, SubmitDetach } from '../../../contracts/machine-safety/driver.ts';
import type { SweepInput, SweepProgress, SweepResult, SweepSettings } from '../../../contracts/machine-safety/sweep.ts';
import { asSignal, messages, progressQuery, unseenChange } from '../../../contracts/messages.ts';
import { withClock } from '../../../lab/clock.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { machinesConfig, sweepSettings } from '../../../runtime/config/machines-config.ts';
import { parseConfig } from '../../../runtime/config/config.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import { liftKeep, setKeep, type SweepKeep } from '../../../runtime/sweep-keeps.ts';
import type { AuditEntry } from '../../../runtime/telemetry/audit.ts';
import type { Logger } from '../../../runtime/telemetry/logging.ts';
import type { Metrics } from '../../../runtime/telemetry/metrics.ts';
import { createPayloadCodec } from '../../../runtime/temporal/payload-codec.ts';
import { signalWithStart } from '../../../runtime/temporal/signal-runs.ts';
import { meterApprovals } from '../../../workers/approval-meter.ts';
import { deleteOtherSweepSchedules, driftSchedule, ensureSchedule, sweepSchedule } from '../../../workers/schedules.ts';
import { createFakeKubernetes, type FakeKubernetes } from '../../fakes/kubernetes/fake-kubernetes.ts';
import type { SweepView } from '../../../starters/machines/read-sweep.ts';
import { loadWorkflows } from '../bundle.ts';
import { simulatedCommand } from '../command.ts';
import { createSimulation, type Simulation, type SimulationOptions } from '../simulation.ts';

/**
 * The sweep of orphan VMs: the real run and activities over a simulated kube-apiserver, and a provider that is a list.
 */

const namespace = 'shoot';
const system = 'drover-system';
const group = 'machine.sapcloud.io/v1alpha1';
const minute = 60_000;
const hour = 60 * minute;
const never = new AbortController().signal;

/** Those of a cluster that is long in service: what a test is about it sets itself. */
const settled = { probationMs: 0, ageMs: 0, sightings: 1 };

interface World {
  /** By class. */
  vms: Map<string, ListedVm[]>;
  deleted: string[];
  /** Of any class. */
  leftovers: Leftover[];
  freeze: Freeze;
  mode: 'observe' | 'act';
  stopped: boolean;
  /** Called as a VM is about to be deleted, and as a class is listed. */
  onDelete: (machineName: string, submitDetach: SubmitDetach) => unknown;
  onList: (machineClass: string) => void | Promise<void>;
  onListLeftovers: (machineClass: string) => unknown;
  audit: AuditEntry[];
  /** So much lower is the version of each list, as of a backup. */
  restoredBy: number;
  /** `machines.namespaces`. */
  namespaces: string[];
  /** The namespace whose Machines drover may not list; null: none. */
  unreadable: string | null;
}

const idOf = (name: string): string => `vsphere://eu-1/${name}`;
const vmOf = (name: string): ListedVm => ({ providerId: idOf(name), machineName: name, createdMs: 1 });

async function open(gates: Partial<SweepSettings> = {}, options: Partial<SimulationOptions> = {}) {
  const sweep: SweepSettings = { ...sweepSettings(machinesConfig.parse({})), ...settled, ...gates };
  const world: World = {
    vms: new Map([['small', []]]),
    deleted: [],
    leftovers: [],
    freeze: { state: 'thawed' },
    mode: 'act',
    stopped: false,
    onDelete: () => undefined,
    onList: () => undefined,
    onListLeftovers: () => undefined,
    audit: [],
    restoredBy: 0,
    namespaces: [namespace],
    unreadable: null,
  };
  let kubernetes: FakeKubernetes | null = null;
  const simulation = createSimulation({
    bundle: await loadWorkflows(),
    seed: 1,
    ...options,
    serve(running) {
      kubernetes ??= createFakeKubernetes(running);
      return [{ taskQueue: machinesQueue(''), activities: activitiesOf(running, kubernetes, world, sweep) }];
    },
  });
  const { admin } = kubernetes as unknown as FakeKubernetes;
  const { client, clock } = simulation;
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    simulation.run(withClock(clock, work), 48 * hour) as Promise<Result>;
  const apply = (object: Parameters<typeof applyObject>[1]): Promise<unknown> => run(() => applyObject(admin, object));
  const addClass = (name: string): Promise<unknown> =>
    apply({
      apiVersion: group,
      kind: 'MachineClass',
      metadata: { namespace, name },
      provider: 'vSphere',
      providerSpec: {},
      secretRef: { name: 'credential', namespace: system },
    });
  const addMachine = (name: string, providerID = idOf(name), of = namespace): Promise<unknown> =>
    apply({ apiVersion: group, kind: 'Machine', metadata: { namespace: of, name }, spec: { providerID } });
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: system, name: 'credential' },
    data: { vspherePassword: Buffer.from('correct horse').toString('base64') },
  });
  await addClass('small');
  await addMachine('healthy');
  world.vms.get('small')?.push(vmOf('healthy'));
  const start = (input: SweepInput, workflowId: string) =>
    client.workflow.start(workflowTypes.sweepOrphans, { workflowId, taskQueue: workflowQueue(''), args: [input] });
  return {
    simulation,
    kubernetes: kubernetes as unknown as FakeKubernetes,
    world,
    run,
    addClass,
    addMachine,
    objects: openObjects(admin),
    orphan: (...names: string[]) => world.vms.get('small')?.push(...names.map(vmOf)),
    pass: (ms: number) => run(() => clock.sleep(ms)),
    start: () => run(() => start({ namespace }, orphanSweepId(namespace))),
    /** One after the other, a period apart. */
    sweep: async (input: SweepInput = { namespace }, workflowId = orphanSweepId(namespace)): Promise<SweepResult> => {
      await run(() => clock.sleep(sweep.periodMs));
      const handle = await run(() => start(input, workflowId));
      return await run(() => handle.result() as Promise<SweepResult>);
    },
    progress: () =>
      run(() => client.workflow.getHandle(orphanSweepId(namespace)).query(progressQuery<SweepProgress>())),
    remove: (plural: string, name: string) =>
      run(() => admin.request({ method: 'DELETE', path: resourcePath(group, plural, { namespace, name }) }, never)),
    events: () =>
      (kubernetes as unknown as FakeKubernetes)
        .objects('events')
        .map((event) => event as unknown as { reason: string; note: string }),
    left: () => [...world.vms.values()].flat().map(({ machineName }) => machineName),
  };
}

function activitiesOf({ client, clock }: Simulation, kubernetes: FakeKubernetes, world: World, sweep: SweepSettings) {
  const objects = openObjects(kubernetes.client);
  return createSweepActivities({
    client: {
      ...objects,
      list(resource, query, signal) {
        if (query.namespace === world.unreadable)
          throw droverFailure('KubernetesForbidden', `Machines of ${world.unreadable} may not be read`);
        return objects.list(resource, query, signal);
      },
      async listWithVersion(...query) {
        const { items, resourceVersion } = await objects.listWithVersion(...query);
        return { items, resourceVersion: String(Number(resourceVersion) - world.restoredBy) };
      },
    },
    temporal: client,
    drivers: {
      open: ({ name }, { vspherePassword }) => {
        if (vspherePassword !== 'correct horse')
          throw droverFailure('InvalidObject', 'the Secret lacks vspherePassword');
        return {
          provider: 'vsphere',
          async listMachines(signal) {
            await world.onList(name);
            const found = [...(world.vms.get(name) ?? [])];
            await clock.sleep(500, signal);
            return found;
          },
          async deleteMachine({ providerId, machineName }, signal, submitDetach = (_disks, submit) => submit()) {
            await world.onDelete(machineName, submitDetach);
            await clock.sleep(2_000, signal);
            const vms = world.vms.get(name) ?? [];
            const isThere = vms.some((vm) => vm.providerId === providerId);
            world.vms.set(
              name,
              vms.filter((vm) => vm.providerId !== providerId),
            );
            if (isThere) world.deleted.push(machineName);
            return { outcome: isThere ? 'deleted' : 'gone', detachedDisks: [] };
          },
          async listLeftovers() {
            await world.onListLeftovers(name);
            return [...world.leftovers];
          },
          async deleteLeftover({ kind, id }) {
            const isIt = (one: Leftover): boolean => one.kind === kind && one.id === id;
            const isThere = world.leftovers.some(isIt);
            world.leftovers = world.leftovers.filter((one) => !isIt(one));
            return isThere;
          },
        };
      },
    },
    readFreeze: async () => world.freeze,
    readFreshFreeze: async () => world.freeze,
    settings: { mode: world.mode, namespaces: world.namespaces, sweep, hasTarget: false, systemNamespace: system },
    cluster: '',
    signalWithStart: async (subject) =>
      void (await signalWithStart(
        client,
        machineKind,
        { subject, cluster: '', signal: unseenChange('started by hand') },
        { clock },
      )),
    stopGate: async () => {
      if (world.stopped) throw droverFailure('Stopped', 'Everything was stopped by jane');
    },
    audit: { record: async (entry) => void world.audit.push(entry) },
    clock,
  });
}

const gatesOf = ({ candidates = [] }: Partial<SweepResult>): Record<string, string> =>
  Object.fromEntries(candidates.map(({ machineName, gates }) => [machineName, gates.map(({ gate }) => gate).join()]));

test('orphans are deleted, with an audit line and an Event each; what has a Machine is not', async () => {
  const { simulation, world, orphan, sweep, left, events } = await open();
  orphan('lost-1', 'lost-2');
  expect(await sweep()).toMatchObject({
    outcome: 'reconciled',
    reason: 'NoOrphans',
    listed: 1,
    deletedCount: 2,
    deleted: [{ machineName: 'lost-1' }, { machineName: 'lost-2' }],
    classes: [{ name: 'small', listed: 1, kept: { ProviderIdMatches: 1 }, orphans: 0 }],
  });
  expect(left()).toEqual(['healthy']);
  expect(world.audit).toMatchObject([
    {
      actor: 'drover',
      action: 'deleteOrphan',
      object: `machine-vm/${idOf('lost-1')}`,
      cause: expect.stringMatching(/^MachineMissing: there is no Machine lost-1; an orphan since /u),
      run: { workflowId: 'orphan-sweep/shoot' },
    },
    { object: `machine-vm/${idOf('lost-2')}` },
  ]);
  expect(events().map(({ reason }) => reason)).toEqual(['OrphanDeleted', 'OrphanDeleted']);
  expect(JSON.stringify(simulation.histories())).not.toContain('correct horse');
  simulation.close();
});

test('disks that a deletion detached are named, though it fails afterwards', async () => {
  const { simulation, world, orphan, sweep, left, events } = await open();
  orphan('lost');
  let attempts = 0;
  world.onDelete = async (_name, submitDetach) => {
    attempts += 1;
    if (attempts > 1) return;
    await submitDetach(['[ds] volumes/one.vmdk'], () => Promise.resolve('task-1'));
    throw droverFailure('VsphereUnavailable', 'the power-off has no answer');
  };
  await sweep();
  expect([attempts, left()]).toEqual([2, ['healthy']]);
  expect(world.audit).toMatchObject([
    {
      action: 'detachForeignDisks',
      object: `machine-vm/${idOf('lost')}`,
      cause: expect.stringMatching(/^MachineMissing: /u),
      after: { detached: ['[ds] volumes/one.vmdk'] },
      requestId: 'task-1',
    },
    { action: 'deleteOrphan', after: { asked: null, failed: expect.stringContaining('the power-off has no answer') } },
    { action: 'deleteOrphan', after: { outcome: 'deleted', detachedDisks: [] } },
  ]);
  expect(events()).toMatchObject([
    { reason: 'OrphanDisksDetached', note: expect.stringContaining('[ds] volumes/one.vmdk') },
    { reason: 'OrphanDeleted' },
  ]);
  simulation.close();
});

test('nothing to do is a short run', async () => {
  const { simulation, sweep } = await open();
  await sweep();
  expect(simulation.runs().map(({ activities, events }) => [activities.join(), events <= 12])).toEqual([
    ['observeSweep', true],
  ]);
  simulation.close();
});

test('what sweeps know is the result of the last one: two sightings, a period apart, after probation', async () => {
  const { simulation, orphan, sweep, left, pass, start } = await open({ sightings: 2, probationMs: 20 * minute });
  orphan('lost');
  expect(gatesOf(await sweep())).toEqual({ lost: 'Probation,SeenTooSeldom' });
  // A burst, as of Machines that are deleted, is one sweep.
  for (let times = 0; times < 3; times += 1) {
    await start();
    await pass(10_000);
  }
  expect(gatesOf((await sweep()) satisfies SweepResult)).toEqual({ lost: 'Probation' });
  expect(left()).toContain('lost');
  expect(await sweep()).toMatchObject({ deletedCount: 1 });
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('an API server that was restored begins probation anew', async () => {
  const { simulation, world, orphan, sweep, left } = await open({ probationMs: 20 * minute });
  await sweep();
  await sweep();
  orphan('lost');
  world.restoredBy = 5;
  expect(gatesOf(await sweep())).toEqual({ lost: 'Probation' });
  const result = await sweep();
  expect(gatesOf(result)).toEqual({ lost: 'Probation' });
  expect(result.memory?.probationWhy).toMatch(/kube-apiserver was restored$/u);
  expect(await sweep()).toMatchObject({ deletedCount: 1 });
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('an API server that is restored between the plan and the deletion keeps every VM', async () => {
  const { simulation, world, orphan, sweep, left } = await open();
  orphan('lost-1', 'lost-2');
  world.onDelete = () => (world.restoredBy = 5);
  expect(gatesOf(await sweep())).toMatchObject({ 'lost-2': expect.stringMatching(/Refused/u) });
  expect(left()).toEqual(['healthy', 'lost-2']);
  simulation.close();
});

test('a freeze between the plan and the deletion keeps every VM', async () => {
  const { simulation, world, orphan, sweep, left } = await open();
  orphan('lost-1', 'lost-2', 'lost-3');
  world.onDelete = () => (world.freeze = { state: 'frozen', sinceMs: 0, reason: 'control does not answer' });
  const result = await sweep();
  expect(world.deleted).toEqual(['lost-1']);
  expect(result).toMatchObject({ outcome: 'blocked', deletedCount: 1 });
  expect(gatesOf(result)).toEqual({ 'lost-2': 'Frozen,Refused', 'lost-3': 'Frozen,Refused' });
  world.freeze = { state: 'unknown', reason: 'no run' };
  expect(gatesOf(await sweep())).toEqual({ 'lost-2': 'Frozen', 'lost-3': 'Frozen' });
  world.freeze = { state: 'thawed' };
  world.onDelete = () => undefined;
  await sweep();
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('a Machine that comes between the plan and the deletion keeps its VM', async () => {
  const { simulation, world, orphan, sweep, left, kubernetes } = await open();
  orphan('lost-1', 'lost-2');
  const machine = {
    apiVersion: group,
    kind: 'Machine',
    metadata: { namespace, name: 'lost-2' },
    spec: { providerID: idOf('lost-2') },
  };
  world.onDelete = () =>
    void kubernetes.admin.request(
      { method: 'POST', path: resourcePath(group, 'machines', { namespace }), body: machine },
      never,
    );
  await sweep();
  expect(world.deleted).toEqual(['lost-1']);
  expect(left()).toEqual(['healthy', 'lost-2']);
  simulation.close();
});

test('a user who keeps a VM between the plan and the deletion keeps it', async () => {
  const { simulation, world, orphan, sweep, left, objects } = await open();
  orphan('lost-1', 'lost-2');
  const keep = { providerId: idOf('lost-2'), by: 'jane', reason: '', at: '2026-01-31T10:00:00Z' };
  world.onDelete = () => setKeep(objects, system, keep, never);
  expect(gatesOf(await sweep())).toMatchObject({ 'lost-2': expect.stringMatching(/^KeptByUser/u) });
  expect(left()).toEqual(['healthy', 'lost-2']);
  simulation.close();
});

test('where the last Machine goes between the plan and the deletion, no other VM does', async () => {
  const { simulation, kubernetes, world, orphan, sweep, left } = await open({ approvalMs: hour });
  orphan('lost-1', 'lost-2');
  const path = resourcePath(group, 'machines', { namespace, name: 'healthy' });
  world.onDelete = async (name) => name === 'lost-1' && kubernetes.admin.request({ method: 'DELETE', path }, never);
  const result = await sweep();
  expect(gatesOf(result)).toMatchObject({ healthy: expect.stringMatching(/ApprovalNeeded/u) });
  expect(left()).toEqual(['healthy', 'lost-2']);
  simulation.close();
});

test('a user’s keep and a user’s stop hold; a keep that is lifted does not', async () => {
  const { simulation, world, orphan, sweep, left, run, objects } = await open();
  orphan('lost-1', 'lost-2');
  const keep = {
    providerId: idOf('LOST-1').toUpperCase().replace('VSPHERE://', 'vsphere://'),
    by: 'jane',
    reason: 'forensics',
    at: '2026-01-31T10:00:00Z',
  };
  await run(() => setKeep(objects, system, keep, never));
  world.stopped = true;
  expect(gatesOf(await sweep())).toEqual({ 'lost-1': 'KeptByUser,Refused', 'lost-2': 'Refused' });
  world.stopped = false;
  await sweep();
  expect(left()).toEqual(['healthy', 'lost-1']);
  expect(await run(() => liftKeep(objects, system, idOf('lost-1'), never))).toMatchObject({ by: 'jane' });
  await sweep();
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('many wait for an approval, which is of those that are there then', async () => {
  const { simulation, world, orphan, start, pass, progress, run, left, events } = await open();
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4');
  await start();
  await pass(minute);
  expect(await progress()).toMatchObject({
    reason: 'ApprovalNeeded',
    orphans: 4,
    waiting: { reason: 'ApprovalNeeded' },
  });
  expect(events()).toMatchObject([{ reason: 'ApprovalNeeded' }]);
  const handle = simulation.client.workflow.getHandle(orphanSweepId(namespace));
  orphan('lost-5');
  expect(await run(() => handle.executeUpdate(messages.approve, { args: [{ by: 'jane' }] }))).toMatch(
    /^Approved by jane: 4 VMs/u,
  );
  await pass(minute);
  expect(left()).toEqual(['healthy', 'lost-5']);
  expect(world.audit.map(({ actor }) => actor)).toEqual(['jane', 'jane', 'jane', 'jane']);
  expect(await progress()).toMatchObject({ reason: 'ApprovalNeeded', orphans: 1, deletedCount: 4 });
  await run(() => handle.signal(asSignal(messages.approve), { by: 'joe' }));
  await pass(minute);
  expect(world.audit.at(-1)?.actor).toBe('joe');
  expect(simulation.runs()).toMatchObject([{ status: 'COMPLETED', result: { deletedCount: 5 } }]);
  simulation.close();
}, 1_800_000);

test('a worker shows of which namespaces a sweep waits for an approval, and nothing where Temporal does not say', async () => {
  const { simulation, orphan, start, pass, run } = await open();
  const { client, clock } = simulation;
  const leaving = new AbortController();
  const shown = new Map<string, number>();
  const config = parseConfig({ modes: { Machine: 'act' }, machines: { namespaces: [namespace, 'other'] } }, {}, {});
  let isAway = false;
  const workflow = { list: (...query: Parameters<typeof client.workflow.list>) => client.workflow.list(...query) };
  const temporal = {
    workflow,
    withDeadline: client.withDeadline.bind(client),
    withAbortSignal(...call: Parameters<typeof client.withAbortSignal>) {
      if (isAway) throw new Error('14 UNAVAILABLE');
      return client.withAbortSignal(...call);
    },
  } as unknown as typeof client;
  const metrics = {
    replace(_key: unknown, samples: readonly { labels: { namespace: string }; value: number }[]) {
      shown.clear();
      for (const { labels, value } of samples) shown.set(labels.namespace, value);
    },
  } as unknown as Pick<Metrics, 'replace'>;
  const warnings: unknown[] = [];
  const logger = { warn: (...words: unknown[]) => void warnings.push(words) } as unknown as Logger;
  const metering = run(async () => {
    const done = meterApprovals(metrics, { temporal, config, clock, leaving: leaving.signal, logger });
    await clock.sleep(20_000);
    return { done };
  });
  await metering;
  expect([...shown]).toEqual([
    [namespace, 0],
    ['other', 0],
  ]);
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4');
  await start();
  await pass(2 * hour);
  expect([...shown]).toEqual([
    [namespace, 1],
    ['other', 0],
  ]);
  isAway = true;
  await pass(minute);
  expect([[...shown], warnings.length]).toEqual([[], expect.any(Number)]);
  isAway = false;
  await run(() =>
    client.workflow.getHandle(orphanSweepId(namespace)).signal(asSignal(messages.approve), { by: 'joe' }),
  );
  await pass(minute);
  expect(shown.get(namespace)).toBe(0);
  leaving.abort();
  simulation.close();
});

test('an approval that no user gives ends the run, and the next sweep asks again', async () => {
  const { simulation, orphan, sweep, left } = await open({ approvalMs: hour });
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4');
  expect(await sweep()).toMatchObject({ outcome: 'blocked', reason: 'NotApproved' });
  expect(await sweep()).toMatchObject({ outcome: 'blocked', reason: 'NotApproved' });
  expect(left()).toHaveLength(5);
  simulation.close();
});

test('a VM of a Machine of another namespace with the same marks is no orphan, while drover sweeps that one', async () => {
  const { simulation, world, kubernetes, addMachine, orphan, run, sweep, left } = await open();
  orphan('elsewhere', 'taken', 'lost');
  await run(() =>
    applyObject(kubernetes.admin, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shoot-2' } }),
  );
  await addMachine('of-another', idOf('elsewhere'), 'shoot-2');
  world.namespaces.push('shoot-2');
  // One that has come there since the observation is found by the check before the deletion.
  world.onDelete = async (name) => {
    if (name !== 'lost') return;
    const path = resourcePath(group, 'machines', { namespace: 'shoot-2' });
    const metadata = { namespace: 'shoot-2', name: 'late' };
    const body = { apiVersion: group, kind: 'Machine', metadata, spec: { providerID: idOf('taken') } };
    await kubernetes.admin.request({ method: 'POST', path, body }, never);
  };
  const result = await sweep();
  expect(result).toMatchObject({ classes: [{ kept: { ProviderIdMatches: 1, OtherMachineHasIt: 2 }, orphans: 0 }] });
  expect([world.deleted, left()]).toEqual([['lost'], ['healthy', 'elsewhere', 'taken']]);
  world.namespaces.pop();
  world.onDelete = () => undefined;
  await sweep();
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('where the Machines of another namespace cannot be read, nothing is judged', async () => {
  const { simulation, world, orphan, run, start, pass, left, progress } = await open();
  orphan('lost');
  world.namespaces.push('shoot-2');
  world.unreadable = 'shoot-2';
  await start();
  await pass(10 * minute);
  expect(left()).toEqual(['healthy', 'lost']);
  expect(JSON.stringify(await progress())).toContain('shoot-2 may not be read');
  world.unreadable = null;
  await run(() => simulation.client.workflow.getHandle(orphanSweepId(namespace)).signal('retryNow'));
  await pass(minute);
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('without Machines nothing is deleted', async () => {
  const { simulation, remove, sweep, left } = await open({ approvalMs: hour });
  await remove('machines', 'healthy');
  expect(gatesOf(await sweep())).toEqual({ healthy: 'ApprovalNeeded' });
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('the cap is of a sweep, however often one is started', async () => {
  const { simulation, world, orphan, start, pass, sweep } = await open({ approveAbove: null, most: 2, mostPercent: 0 });
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4', 'lost-5');
  for (let times = 0; times < 4; times += 1) {
    await start();
    await pass(20_000);
  }
  expect(world.deleted).toEqual(['lost-1', 'lost-2']);
  expect(gatesOf(await sweep())).toEqual({ 'lost-5': 'OverCap' });
  await sweep();
  expect(world.deleted).toHaveLength(5);
  simulation.close();
});

test('no more VMs are touched in one sweep than the cap, also where none can be deleted, and others come next', async () => {
  const { simulation, world, orphan, sweep } = await open({ approveAbove: null, most: 2, mostPercent: 0 });
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4', 'lost-5');
  const touched: string[] = [];
  const isRefused = new Set(['lost-1', 'lost-2', 'lost-3']);
  world.onDelete = (name) => {
    touched.push(name);
    if (isRefused.has(name)) throw droverFailure('VsphereNotPermitted', 'No right to destroy it');
  };
  expect(gatesOf(await sweep())).toEqual({
    'lost-1': 'Refused',
    'lost-2': 'Refused',
    'lost-3': 'OverCap',
    'lost-4': 'OverCap',
    'lost-5': 'OverCap',
  });
  expect(new Set(touched)).toEqual(new Set(['lost-1', 'lost-2']));
  await sweep();
  expect(world.deleted).toEqual(['lost-4']);
  await sweep();
  expect(world.deleted).toEqual(['lost-4', 'lost-5']);
  isRefused.clear();
  await sweep();
  await sweep();
  expect(world.deleted.toSorted()).toEqual(['lost-1', 'lost-2', 'lost-3', 'lost-4', 'lost-5']);
  await simulation.replay();
  simulation.close();
});

test('a class that cannot be swept stops no other, and says so', async () => {
  const { simulation, world, orphan, addClass, sweep, left, events } = await open();
  await addClass('broken');
  world.onList = (name) => {
    if (name === 'broken') throw droverFailure('VsphereCredentialRefused', 'vCenter vc refused the user');
  };
  orphan('lost');
  const result = await sweep();
  expect(result).toMatchObject({
    outcome: 'blocked',
    reason: 'ClassNotSwept',
    classes: [
      { name: 'broken', failure: { code: 'VsphereCredentialRefused' } },
      { name: 'small', failure: null },
    ],
  });
  expect(left()).toEqual(['healthy']);
  expect(
    events()
      .map(({ reason }) => reason)
      .toSorted(),
  ).toEqual(['ClassNotSwept', 'OrphanDeleted']);
  simulation.close();
});

test('a class whose provider does not answer takes no time from the others', async () => {
  const { simulation, world, orphan, addClass, sweep, left } = await open();
  for (let index = 0; index < 12; index += 1) await addClass(`hangs-${index}`);
  world.onList = (name) => (name.startsWith('hangs') ? new Promise(() => undefined) : undefined);
  orphan('lost');
  const { classes = [], reason } = await sweep();
  expect(reason).toBe('ClassNotSwept');
  expect(classes.flatMap(({ name, failure }) => (failure === null ? [name] : []))).toEqual(['small']);
  for (const { failure } of classes) expect(failure?.message ?? 'within').toMatch(/within/u);
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('a Machine and its VM that come while VMs are listed are no orphan', async () => {
  const { simulation, kubernetes, world, sweep, left } = await open();
  let isMade = false;
  world.onList = async (name) => {
    if (isMade) return;
    isMade = true;
    world.vms.get(name)?.push(vmOf('new'));
    const body = {
      apiVersion: group,
      kind: 'Machine',
      metadata: { namespace, name: 'new' },
      spec: { providerID: idOf('new') },
    };
    await kubernetes.admin.request(
      { method: 'POST', path: resourcePath(group, 'machines', { namespace }), body },
      never,
    );
  };
  expect(await sweep()).toMatchObject({ reason: 'NoOrphans', listed: 2, orphans: 0 });
  expect(left()).toEqual(['healthy', 'new']);
  expect(simulation.runs().map(({ activities }) => activities)).toEqual([['observeSweep']]);
  simulation.close();
});

test('a VM that two classes list, as they have the same marks, is one', async () => {
  const { simulation, world, orphan, addClass, sweep } = await open({ ageMs: 1_000 * hour });
  await addClass('twin');
  orphan('lost');
  world.vms.set('twin', world.vms.get('small') ?? []);
  world.vms.get('small')?.splice(1, 1, { ...vmOf('lost'), createdMs: null });
  expect(await sweep()).toMatchObject({
    listed: 2,
    orphans: 1,
    candidates: [{ machineName: 'lost', machineClass: 'small' }],
    classes: [
      { name: 'small', listed: 2, orphans: 1 },
      { name: 'twin', listed: 2, orphans: 0 },
    ],
  });
  simulation.close();
});

test('a sweep that is cancelled deletes nothing more, and the next one remembers what was known before', async () => {
  const { simulation, orphan, start, sweep, pass, run, left } = await open();
  await sweep();
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4');
  await start();
  await pass(minute);
  await run(() => simulation.client.workflow.getHandle(orphanSweepId(namespace)).cancel());
  await pass(minute);
  expect(simulation.runs().map(({ status }) => status)).toEqual(['COMPLETED', 'CANCELED']);
  expect(left()).toHaveLength(5);
  simulation.close();
});

test('with every gate off all orphans go, more than one plan has', async () => {
  const { simulation, world, orphan, sweep, left } = await open({
    most: null,
    approveAbove: null,
    approveWithoutMachines: false,
    frozen: false,
    renamedAreKept: false,
  });
  world.freeze = { state: 'unknown', reason: 'no run' };
  orphan(...Array.from({ length: 600 }, (_, index) => `lost-${index}`));
  expect(await sweep()).toMatchObject({ outcome: 'reconciled', deletedCount: 600, orphans: 0 });
  expect(left()).toEqual(['healthy']);
  simulation.close();
}, 1_800_000);

test('a VM that cannot be deleted is left for the next sweep, and holds up no other', async () => {
  const { simulation, world, orphan, sweep, left } = await open();
  orphan('lost-1', 'lost-2');
  let refuses = true;
  world.onDelete = (name) => {
    if (refuses && name === 'lost-1') throw droverFailure('VsphereNotPermitted', 'vCenter vc refuses');
  };
  expect(gatesOf(await sweep())).toEqual({ 'lost-1': 'Refused' });
  expect(left()).toEqual(['healthy', 'lost-1']);
  refuses = false;
  await sweep();
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('a dry run deletes nothing, waits for no approval, and is remembered by no sweep', async () => {
  const { simulation, orphan, sweep, left } = await open({ sightings: 2 });
  orphan('lost');
  for (const [input, id] of [
    [{ namespace, dryRun: true }, orphanSweepDryId(namespace)],
    [{ namespace }, orphanSweepDryId(namespace)],
    [{ namespace, dryRun: true }, orphanSweepId(namespace)],
    [{ namespace, dryRun: true }, 'my-own'],
  ] as const) {
    const result = await sweep(input, id);
    expect(result).toMatchObject({ outcome: 'observed', dryRun: true, memory: null });
    expect(gatesOf(result)).toEqual({ lost: 'DryRun,SeenTooSeldom' });
  }
  expect(gatesOf(await sweep())).toEqual({ lost: 'SeenTooSeldom' });
  expect(gatesOf(await sweep({ namespace, dryRun: true }, 'my-own'))).toEqual({ lost: 'DryRun' });
  expect(left()).toEqual(['healthy', 'lost']);
  simulation.close();
});

test('where drover observes, a sweep is a dry run that is remembered', async () => {
  const { simulation, world, orphan, sweep, left } = await open({ sightings: 2 });
  world.mode = 'observe';
  simulation.killWorker();
  orphan('lost');
  await sweep();
  const result = await sweep();
  expect(result).toMatchObject({ outcome: 'observed', memory: { sightings: { 'vsphere lost': { count: 2 } } } });
  expect(left()).toEqual(['healthy', 'lost']);
  simulation.close();
});

test('a run of another id hands over, and one of a namespace that is not swept says so', async () => {
  const { simulation, orphan, sweep, pass, left } = await open();
  orphan('lost');
  expect(await sweep({ namespace }, 'my-own')).toMatchObject({ outcome: 'handedOver' });
  await pass(minute);
  expect(left()).toEqual(['healthy']);
  expect(simulation.runs().map(({ workflowId }) => workflowId)).toEqual(['my-own', 'orphan-sweep/shoot']);
  expect(await sweep({ namespace: 'other' }, 'orphan-sweep/other')).toMatchObject({ outcome: 'nothing' });
  simulation.close();
});

test('a request starts the sweep, which outlives it; another one finds it open', async () => {
  const { simulation, orphan, pass, run } = await open();
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4');
  const request = (workflowId: string) =>
    run(() =>
      simulation.client.workflow.execute(workflowTypes.requestSweep, {
        workflowId,
        taskQueue: workflowQueue(''),
        args: [{ namespace }],
      }),
    );
  expect(await request('request-1')).toMatchObject({ outcome: 'started', workflowId: 'orphan-sweep/shoot' });
  await pass(minute);
  expect(await request('request-2')).toMatchObject({ outcome: 'alreadyRunning' });
  expect(simulation.openRuns()).toEqual(['orphan-sweep/shoot']);
  simulation.close();
});

test('a user sweeps, sees what holds each orphan, keeps one and approves of the others', async () => {
  const { simulation, kubernetes, orphan, run, pass, left, sweep } = await open();
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4', 'lost-5');
  const config = parseConfig({ machines: { namespaces: [namespace] } }, {}, {});
  const drover = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(() =>
      simulatedCommand({ simulation, kubernetes, config }, ['sweep', ...args], { DROVER_USER: 'jane' }),
    );
    return [code, stdout, stderr] as const;
  };
  const last = async () =>
    JSON.parse((await drover('ls', '--json'))[1]) as { sweep: SweepView | null; keeps: SweepKeep[] };
  expect(await last()).toEqual({ sweep: null, keeps: [] });
  expect(await drover('approve')).toMatchObject([4, '', expect.stringMatching(/No sweep of shoot is running/u)]);
  expect(await drover('keep', 'lost-1')).toMatchObject([4, '', expect.stringMatching(/none of the orphans/u)]);

  const [dryCode, dry] = await drover('--dry-run');
  expect(dry).toMatch(
    /^Sweep of shoot, ended .* ago: observed\. drover only observes\. It would delete nothing; 5 orphans/u,
  );
  expect(dry).toMatch(
    /^lost-1 +small +MachineMissing .*vsphere:\/\/eu-1\/lost-1 +DryRun: .* \(also ApprovalNeeded\)$/mu,
  );
  expect(dryCode).toBe(0);

  const [code, waits, remarks] = await drover();
  expect([code, waits]).toEqual([
    1,
    expect.stringMatching(/^Sweep of shoot, runs since .*Waiting for an approval to delete 5 VMs/u),
  ]);
  expect(remarks).toMatch(/It goes on by itself/u);
  expect(await drover('keep', 'lost-1', '--reason', 'forensics')).toMatchObject([
    0,
    expect.stringMatching(/^vsphere:\/\/eu-1\/lost-1 is kept/u),
    '',
  ]);
  expect(await drover('approve', '--reason', 'the pool was removed')).toMatchObject([
    0,
    expect.stringMatching(/^Approved by jane: 5 VMs/u),
    '',
  ]);
  await pass(minute);
  expect(left()).toEqual(['healthy', 'lost-1']);
  expect(await last()).toMatchObject({
    sweep: {
      outcome: 'reconciled',
      reason: 'OrphansHeld',
      report: { candidates: [{ machineName: 'lost-1', gates: [{ gate: 'KeptByUser' }] }], deletedCount: 4 },
    },
    keeps: [{ providerId: idOf('lost-1'), by: 'jane', reason: 'forensics' }],
  });
  expect((await drover('ls'))[1]).toMatch(/^KEPT .*\nvsphere:\/\/eu-1\/lost-1 +jane +\S+ +forensics$/mu);
  expect(await drover('keep', idOf('lost-1'), '--lift')).toMatchObject([
    0,
    expect.stringMatching(/is kept no longer/u),
    '',
  ]);
  await sweep();
  expect(left()).toEqual(['healthy']);
  simulation.close();
}, 1_800_000);

const leftover = (id: string, kind: Leftover['kind'] = 'port'): Leftover => ({
  kind,
  id,
  name: `lost-${id}`,
  createdMs: 1,
});

test('leftovers are listed, and stay; that they cannot be listed stops no sweep', async () => {
  const { simulation, world, orphan, sweep, left, addClass } = await open();
  await addClass('twin');
  orphan('lost');
  world.leftovers = Array.from({ length: 120 }, (_, index) => leftover(`p-${index}`));
  const result = await sweep();
  expect(result).toMatchObject({ deletedCount: 1, leftoverCount: 120, answeredLeftovers: [] });
  expect(result.leftovers).toHaveLength(100);
  expect(result.leftovers?.[0]).toEqual({ ...leftover('p-0'), machineClass: 'small' });
  expect(world.leftovers).toHaveLength(120);
  orphan('lost-2');
  world.onListLeftovers = (name) =>
    name === 'small' && Promise.reject(droverFailure('NeutronUnavailable', 'Neutron is away'));
  const half = await sweep();
  expect(half).toMatchObject({
    outcome: 'reconciled',
    deletedCount: 1,
    classes: [
      { name: 'small', failure: null, leftovers: { listed: null, failure: { code: 'NeutronUnavailable' } } },
      { name: 'twin', leftovers: { listed: 120, failure: null } },
    ],
  });
  expect(half.leftovers?.[0]?.machineClass).toBe('twin');
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('leftovers that are not listed in time cost their class nothing but them', async () => {
  const { simulation, world, orphan, sweep, left } = await open();
  orphan('lost');
  world.onListLeftovers = () => new Promise(() => undefined);
  const { classes = [] } = await sweep();
  expect(classes).toMatchObject([
    { failure: null, leftovers: { failure: { message: expect.stringMatching(/^its leftovers were not listed/u) } } },
  ]);
  expect(left()).toEqual(['healthy']);
  simulation.close();
});

test('a user has a leftover deleted, which is looked at once more', async () => {
  const { simulation, kubernetes, world, run, sweep } = await open();
  const config = parseConfig({ machines: { namespaces: [namespace] } }, {}, {});
  const drover = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(() =>
      simulatedCommand({ simulation, kubernetes, config }, ['sweep', ...args], { DROVER_USER: 'jane' }),
    );
    return [code, stdout, stderr] as const;
  };
  world.leftovers = [leftover('p-1'), leftover('v-1', 'volume'), leftover('p-2'), leftover('p-3'), leftover('p-4')];
  expect(await drover('delete-leftover', 'p-1')).toMatchObject([
    4,
    '',
    expect.stringMatching(/none of the leftovers/u),
  ]);
  await sweep();
  expect((await drover('ls'))[1]).toMatch(/^lost-v-1 +small +volume +v-1 +\d/mu);

  expect((await drover('delete-leftover', 'v-1')).slice(0, 2)).toEqual([0, 'volume lost-v-1 was deleted (v-1).\n']);
  expect(world.audit).toMatchObject([{ actor: 'jane', action: 'deleteLeftover', object: 'machine-volume/v-1' }]);

  const kept = async (id: string, why: RegExp) => {
    const [code, , stderr] = await drover('delete-leftover', id);
    expect([code, stderr]).toEqual([5, expect.stringMatching(why)]);
  };
  let lists = 0;
  // A VM gets it after the observation.
  world.onListLeftovers = () => {
    lists += 1;
    if (lists === 2) world.leftovers = world.leftovers.filter(({ id }) => id !== 'p-1');
  };
  await kept('p-1', /lists no such port/u);
  world.stopped = true;
  await kept('p-2', /stopped by jane/u);
  world.stopped = false;
  world.freeze = { state: 'frozen', sinceMs: 0, reason: 'control does not answer' };
  await kept('p-3', /control does not answer/u);
  world.freeze = { state: 'thawed' };
  expect(world.leftovers.map(({ id }) => id)).toEqual(['p-2', 'p-3', 'p-4']);
  expect((await drover('delete-leftover', 'p-2')).slice(0, 2)).toEqual([0, 'port lost-p-2 was deleted (p-2).\n']);
  simulation.close();
}, 1_800_000);

test('a sweep that fails, or has no worker, is not followed without end', async () => {
  const { simulation, kubernetes, world, orphan, run, pass } = await open();
  const config = parseConfig({ machines: { namespaces: [namespace] } }, {}, {});
  const drover = async (...args: string[]) => {
    const { code, stderr } = await run(() =>
      simulatedCommand({ simulation, kubernetes, config }, ['sweep', ...args], { DROVER_USER: 'jane' }),
    );
    return [code, stderr] as const;
  };
  world.leftovers = [leftover('p-0'), leftover('p-1')];
  orphan('lost-1', 'lost-2', 'lost-3', 'lost-4', 'lost-5');
  expect(await drover()).toEqual([1, expect.stringMatching(/It goes on by itself/u)]);
  // What it waited for before is not waited for.
  expect((await drover('delete-leftover', 'p-0'))[0]).toBe(0);
  world.namespaces.push('other');
  world.unreadable = 'other';
  expect(await drover('delete-leftover', 'p-1')).toEqual([
    1,
    expect.stringMatching(/has not deleted port p-1 yet: .*Machines of other may not be read.*\n.*goes on by itself/u),
  ]);
  expect(await drover()).toEqual([1, expect.stringMatching(/It goes on by itself/u)]);
  simulation.killWorker(hour);
  expect(await drover()).toEqual([3, expect.stringMatching(/No worker has answered for the sweep of shoot/u)]);
  world.unreadable = null;
  await pass(2 * hour);
  expect(world.leftovers).toEqual([]);
  simulation.close();
}, 1_800_000);

test.each([{}, { machineClass: 'small', kind: 'server', id: 'x' }, { machineClass: 'small', kind: 'port' }, 7])(
  'what asks for no leftover deletes none: %j',
  async (argument) => {
    const { simulation, world, orphan, start, pass, run } = await open();
    world.leftovers = [leftover('p-1')];
    orphan('lost-1', 'lost-2', 'lost-3', 'lost-4');
    await start();
    await pass(minute);
    const handle = simulation.client.workflow.getHandle(orphanSweepId(namespace));
    await run(() => handle.signal('deleteLeftover', argument));
    await expect(run(() => handle.executeUpdate('deleteLeftover', { args: [argument] }))).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^deleteLeftover: /u) },
    });
    await pass(minute);
    expect(world.leftovers).toHaveLength(1);
    expect(simulation.openRuns()).toEqual([orphanSweepId(namespace)]);
    simulation.close();
  },
);

test('a Schedule requests sweeps, is changed with the settings, and goes with them', async () => {
  const { simulation, orphan, run, pass, left } = await open({ sightings: 2 });
  orphan('lost');
  const { client, clock } = simulation;
  const ensure = (periodMs: number, isWanted = true) =>
    run(() =>
      ensureSchedule(
        { client, clock, leaving: never },
        sweepSchedule(namespace, '', { periodMs, jitterMs: minute }),
        isWanted,
      ),
    );
  const swept = (): number => simulation.runs().filter(({ type }) => type === workflowTypes.sweepOrphans).length;
  await ensure(15 * minute);
  await ensure(15 * minute);
  await pass(61 * minute);
  expect([swept(), left()]).toEqual([4, ['healthy']]);
  await ensure(30 * minute);
  await pass(hour);
  expect(swept()).toBe(6);
  await ensure(30 * minute, false);
  await ensure(30 * minute, false);
  await pass(hour);
  expect(swept()).toBe(6);
  simulation.close();
});

test('the Schedules of namespaces that the settings name no more are deleted, and no others', async () => {
  const { simulation, run } = await open();
  const { client, clock } = simulation;
  const tools = { client, clock, leaving: never };
  const other = { ...sweepSchedule('report', '', { periodMs: hour, jitterMs: 0 }), workflowType: 'report' };
  const drift = driftSchedule('RegionOne', '', hour);
  const made = [
    ...['shoot', 'gone'].map((of) => sweepSchedule(of, '', { periodMs: hour, jitterMs: 0 })),
    sweepSchedule('gone', 'blue', { periodMs: hour, jitterMs: 0 }),
    sweepSchedule('gone', 'orphan-sweep-request', { periodMs: hour, jitterMs: 0 }),
    other,
    drift,
  ];
  const left = await run(async () => {
    for (const one of made) await ensureSchedule(tools, one, true);
    await deleteOtherSweepSchedules(tools, ['shoot', 'new'], '');
    await deleteOtherSweepSchedules(tools, ['shoot', 'new'], '');
    const ids = [];
    for await (const { scheduleId } of client.schedule.list()) ids.push(scheduleId);
    return ids;
  });
  expect(left).toEqual(made.map(({ scheduleId }) => scheduleId).filter((id) => id !== 'orphan-sweep-request/gone'));
  simulation.close();
});

test('a Schedule whose key is lost is made anew, paused as it was', async () => {
  const { simulation, run } = await open();
  const { client, clock } = simulation;
  const wanted = sweepSchedule(namespace, '', { periodMs: hour, jitterMs: 0 });
  const withKey = (keyId: string): Client => {
    const keys = new Map([[keyId, Buffer.alloc(32, keyId)]]);
    const payloadCodecs = [createPayloadCodec({ current: keyId, keys })];
    return new Client({ connection: client.connection, dataConverter: { payloadCodecs } });
  };
  const found = await run(async () => {
    await ensureSchedule({ client: withKey('old'), clock, leaving: never }, wanted, true);
    const handle = withKey('new').schedule.getHandle(wanted.scheduleId);
    await handle.pause('maintenance');
    for (let time = 0; time < 2; time += 1)
      await ensureSchedule({ client: withKey('new'), clock, leaving: never }, wanted, true);
    return await handle.describe();
  });
  expect(found).toMatchObject({
    state: { paused: true, note: 'maintenance' },
    action: { args: [{ namespace, cluster: '' }] },
  });
  simulation.close();
});

test('whatever dies between a deletion and its answer, a healthy VM stays and each orphan goes once', async () => {
  for (const fate of ['failAfter', 'killAfter', 'failBefore'] as const) {
    let isDone = false;
    const { simulation, world, orphan, sweep, left } = await open(
      {},
      {
        onActivity({ activity, attempt }) {
          if (activity !== 'deleteOrphan' || attempt > 1 || isDone) return 'works';
          isDone = true;
          return fate;
        },
      },
    );
    orphan('lost-1', 'lost-2');
    expect(await sweep()).toMatchObject({ deletedCount: 2, outcome: 'reconciled' });
    expect([world.deleted, left()]).toEqual([['lost-1', 'lost-2'], ['healthy']]);
    await simulation.replay();
    simulation.close();
  }
});
