import { openObjects } from '../../runtime/kubernetes/objects.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { createFakeKubernetes } from '../../test/fakes/kubernetes/fake-kubernetes.ts';
import { poolSpec } from '../../test/fixtures/starters/agent-pool.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { randomOf } from '../../test/faults/random.ts';
import { createVirtualClock } from '../../test/simulator/clock.ts';
import { createNetwork } from '../../test/simulator/network.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';

/** The commands on a kube-apiserver in memory, without Temporal. */

const { signal } = new AbortController();
const startMs = Date.UTC(2026, 0, 31);
const group = '/apis/agent-forge.containeroo.ch/v1alpha1/namespaces/default';
const typeMeta = (kind: string) => ({ apiVersion: 'agent-forge.containeroo.ch/v1alpha1', kind });

const heldBack = (name: string, waitsFor: string) => ({ type: 'DeleteVM', name, reason: `${waitsFor}: a user` });
const status = {
  agentMachines: 4,
  waitingAgentMachines: 2,
  availableAgents: 1,
  boundAgents: 2,
  conditions: [],
  ownedVMs: [{ name: 'worker-1', phase: 'Bound', reason: 'AgentBound' }],
  plannedActions: [
    heldBack('worker-1', 'ApprovalRequired'),
    heldBack('worker-2', 'ApprovalRequired'),
    heldBack('worker-3', 'NodePresent'),
  ],
};

async function open() {
  const random = randomOf(1);
  const clock = createVirtualClock(startMs, random);
  const { admin } = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
  const send = (method: 'POST' | 'PATCH', path: string, body: object): Promise<unknown> =>
    admin.request(
      {
        method,
        path: `${group}/${path}`,
        body,
        ...(method === 'PATCH' && { patchType: 'merge' as const }),
      },
      signal,
    );
  await send('POST', 'vsphereagentpools', {
    ...typeMeta('VsphereAgentPool'),
    metadata: {
      name: 'gpu',
      namespace: 'default',
      annotations: { 'drover.dev/approved-deletions': 'gone/u,worker-3' },
    },
    spec: poolSpec,
  });
  await send('PATCH', 'vsphereagentpools/gpu/status', { status });
  for (const name of ['worker-1', 'worker-2', 'worker-3'])
    await send('POST', 'vsphereagents', {
      ...typeMeta('VsphereAgent'),
      metadata: { name, namespace: 'default' },
      spec: { poolRef: { name: 'gpu' } },
    });
  const kubernetes: Kubernetes = { ...admin, close: () => Promise.resolve() };
  const now = { ...clock, now: () => startMs + 60_000 };
  return {
    run: async (...args: string[]) => {
      const terminal = paper();
      const context = { ...sampleContext(terminal), clock: now, openKubernetes: () => Promise.resolve(kubernetes) };
      return { code: await main(args, context), stdout: terminal.stdout, stderr: terminal.stderr };
    },
    hold: (plannedActions: object[]) =>
      send('PATCH', 'vsphereagentpools/gpu/status', { status: { ...status, plannedActions } }),
    uidOf: async (name: string) =>
      (await openObjects(admin).get(resources.VsphereAgent, { namespace: 'default', name }, signal))?.metadata.uid ??
      '',
    annotations: async () => {
      const pool = await openObjects(admin).get(
        resources.VsphereAgentPool,
        { namespace: 'default', name: 'gpu' },
        signal,
      );
      return pool?.metadata.annotations ?? {};
    },
  };
}

test('pools are listed, as lines and as JSON', async () => {
  const { run } = await open();
  const listed = await run('pools');
  expect(listed).toMatchObject({ code: exitCodes.ok, stdout: expect.stringMatching(/^POOL .*\ndefault\/gpu {2}- !/u) });
  expect(listed.stderr).toContain('1 of 1 needs attention');
  const { stdout } = await run('pools', 'ls', '-n', 'default', '--json');
  expect(JSON.parse(stdout)).toEqual([
    expect.objectContaining({ name: 'gpu', counts: expect.objectContaining({ waiting: 2, wanted: 1, vms: 1 }) }),
  ]);
  expect((await run('pools', '-n', 'elsewhere')).stdout).toBe('There is no VsphereAgentPool in elsewhere.\n');
});

test('an approval is of what waits for one now, and earlier ones stay as long as their VMs', async () => {
  const { run, annotations, uidOf } = await open();
  const approved = await run('pools', 'approve', 'default/gpu');
  expect(approved).toMatchObject({ code: exitCodes.ok, stdout: 'worker-1 may go.\nworker-2 may go.\n' });
  expect((await annotations())['drover.dev/approved-deletions']).toBe(
    `worker-1/${await uidOf('worker-1')},worker-2/${await uidOf('worker-2')}`,
  );
  await run('pools', 'approve', 'default/gpu', 'worker-1');
  expect((await annotations())['drover.dev/approved-deletions']).toContain(`worker-2/${await uidOf('worker-2')}`);
});

test('a VM without a VsphereAgent is shown, approved by its name alone, and stays so', async () => {
  const { run, annotations, uidOf, hold } = await open();
  const message = 'VM stray-1 has the mark of the pool and no VsphereAgent, and it is on: a list with stray-1/u-stray';
  const stray = { type: 'DeleteVM', name: 'stray-1', reason: `ApprovalRequired: ${message}` };
  await hold([stray]);
  expect((await run('describe', 'pool', 'default/gpu')).stdout).toMatch(/^stray-1 +stray-1 .*it is on: a list with/mu);
  const before = await annotations();
  expect(await run('pools', 'approve', 'default/gpu')).toMatchObject({
    code: exitCodes.refused,
    stderr: expect.stringMatching(/Only VMs without a VsphereAgent wait .*: stray-1\. Nothing was approved/u),
  });
  expect(await annotations()).toEqual(before);
  await hold([stray, ...status.plannedActions]);
  expect(await run('pools', 'approve', 'default/gpu')).toMatchObject({
    code: exitCodes.ok,
    stdout: 'worker-1 may go.\nworker-2 may go.\n',
    stderr: expect.stringMatching(/^Not approved, .*: stray-1\.$/mu),
  });
  expect((await run('pools', 'approve', 'default/gpu', 'stray-1')).stdout).toBe('stray-1 may go.\n');
  await run('pools', 'approve', 'default/gpu', 'worker-2');
  expect((await annotations())['drover.dev/approved-deletions']?.split(',').toSorted()).toEqual([
    'stray-1/u-stray',
    `worker-1/${await uidOf('worker-1')}`,
    `worker-2/${await uidOf('worker-2')}`,
  ]);
});

test('what waits for no approval is refused, and nothing is changed', async () => {
  const { run, annotations } = await open();
  const before = await annotations();
  expect(await run('pools', 'approve', 'gpu', 'worker-1', 'worker-3')).toMatchObject({
    code: exitCodes.notFound,
    stderr: expect.stringMatching(/"worker-3" is none of.*Nothing was approved.*They are: worker-1, worker-2/su),
  });
  expect(await run('pools', 'approve', 'default/gpv')).toMatchObject({
    code: exitCodes.notFound,
    stderr: expect.stringMatching(
      /no VsphereAgentPool default\/gpv. Nothing was approved.*Did you mean default\/gpu/su,
    ),
  });
  expect(await annotations()).toEqual(before);
});

test('an ISO is asked for again by a value that is new', async () => {
  const { run, annotations } = await open();
  expect((await run('pools', 'refresh-iso', 'gpu', '-n', 'default')).code).toBe(exitCodes.ok);
  expect((await annotations())['agent-forge.containeroo.ch/force-iso-refresh']).toBe('2026-01-31T00:01:00.000Z');
});

test('a pool is described without Temporal, and says so', async () => {
  const { run } = await open();
  const { code, stdout } = await run('describe', 'pool', 'default/gpu');
  expect(code).toBe(exitCodes.ok);
  for (const part of [
    'default/gpu: drover has said nothing of this pool yet',
    '  held         3 would go, and wait for something',
    'Could not be read\nThe run that drives it: ',
    'drover pools approve default/gpu',
  ])
    expect(stdout).toContain(part);
  expect(JSON.parse((await run('describe', 'pool', 'gpu', '--json')).stdout)).toMatchObject({
    agents: [{ name: 'worker-1' }, { name: 'worker-2' }, { name: 'worker-3' }],
    run: null,
  });
  const missing = await run('describe', 'pool', 'gpv');
  expect(missing).toMatchObject({
    code: exitCodes.notFound,
    stderr: expect.stringMatching(/no VsphereAgentPool gpv\.\n.*Did you mean default\/gpu/su),
  });
});

test('pools are stopped as a kind', async () => {
  const { run } = await open();
  const stopped = await run('stop', '--kind', 'VsphereAgentPool', '--reason', 'power work');
  expect(stopped).toMatchObject({ code: exitCodes.ok, stdout: expect.stringContaining('power work') });
  expect((await run('describe', 'pool', 'gpu')).stdout).toMatch(/ {2}drover stop {2}.*power work/u);
});
