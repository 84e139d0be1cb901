import type { VirtualMachineSetResourcePolicy } from '../../contracts/crds/virtual-machine-set-resource-policy.ts';
import { policyAnnotations, resourcePolicyId, workflowQueue, workflowTypes } from '../../contracts/ids.ts';
import type { PolicyStatus } from '../../contracts/resource-policy/resource-policy.ts';
import { withClock } from '../../lab/clock.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { inventory } from '../../lab/vsphere/handle.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { openNamespace } from '../faults/virtual-machine-objects.ts';
import { loadWorkflows } from './bundle.ts';
import { deploy, type DeploymentOptions } from './deployment.ts';

/**
 * What only a simulation does to the run of a VirtualMachineSetResourcePolicy; the matrix does
 * the rest (test/faults/resource-policy-scenarios.ts).
 */

const namespace = 'team';
const name = 'apart';
const workflowId = resourcePolicyId(namespace, name);
const plural = 'virtualmachinesetresourcepolicies';

async function open(options: Partial<DeploymentOptions> = {}) {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['vsphere'],
    settings: {
      modes: { Eviction: 'off', Hypervisor: 'off', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'act' },
      bridge: { resyncMs: 10_000 },
    },
    bridge: true,
    ...options,
  });
  const { simulation, kubernetes, vcenter } = deployment;
  if (vcenter === null) throw new Error('there is no vCenter');
  const { witness, control } = vcenter;
  const environment = {
    api: kubernetes.admin,
    region: null,
    vcenter: { settings: {}, witness, control, strangers: new Map() },
    libvirt: null as never,
    bmc: null as never,
    ceph: null as never,
  };
  const run = <Result>(work: () => Promise<Result>): Promise<Result> =>
    simulation.run(withClock(simulation.clock, work), 3_600_000) as Promise<Result>;
  const apply = (annotations: Record<string, string> = {}): Promise<unknown> =>
    applyObject(kubernetes.admin, {
      apiVersion: 'vmoperator.vmware.com/v1alpha6',
      kind: 'VirtualMachineSetResourcePolicy',
      metadata: { namespace, name, annotations },
      spec: { folder: 'apart', clusterModuleGroups: ['web', 'db'] },
    });
  await run(() => openNamespace(environment, namespace));
  return {
    deployment,
    simulation,
    control,
    modules: () => run(() => witness.listModules()),
    find: (kind: 'folder' | 'pool') =>
      run(async () => [...(await witness.find(kind, kind === 'folder' ? inventory.vmFolder : inventory.resourcePool))]),
    create: () => run(() => apply()),
    annotate: (annotations: Record<string, string>) => run(() => apply(annotations)),
    pass: (ms: number) => run(() => simulation.clock.sleep(ms)),
    admin: {
      apply: (object: Parameters<typeof applyObject>[1]) => run(() => applyObject(kubernetes.admin, object)),
      remove: (of: string, named: string) =>
        run(() =>
          kubernetes.admin.request(
            {
              method: 'DELETE',
              path: resourcePath('vmoperator.vmware.com/v1alpha6', of, { namespace, name: named }),
            },
            AbortSignal.timeout(10_000),
          ),
        ),
    },
    read: () => kubernetes.object(plural, { namespace, name }) as unknown as VirtualMachineSetResourcePolicy,
    runs: () => simulation.runs().filter(({ type }) => type === workflowTypes.reconcileSetResourcePolicy),
  };
}

test('a module whose record fails is in the status, and none is made twice', async () => {
  let failed = 0;
  const { deployment, create, pass, read, modules, runs } = await open({
    onActivity({ activity, args: [request] }) {
      const { status = {} } = (request ?? {}) as { status?: PolicyStatus };
      if (activity !== 'publishResourcePolicy' || Object.keys(status).join() !== 'modules') return 'works';
      failed += 1;
      return 'failBefore';
    },
  });
  await create();
  await pass(600_000);
  const { metadata, status } = read();
  // Seven attempts for each of two.
  expect(failed).toBe(14);
  expect(metadata.annotations?.[policyAnnotations.made]).toBe('1');
  expect(status?.clustermodules?.map(({ moduleUUID }) => moduleUUID).toSorted()).toEqual((await modules()).toSorted());
  expect(await modules()).toHaveLength(2);
  expect(runs()).toMatchObject([{ status: 'COMPLETED', result: { outcome: 'reconciled' } }]);
  deployment.close();
});

test('a policy whose run is cancelled says so, is left alone, and is made after a retry', async () => {
  const { deployment, simulation, control, create, annotate, pass, read, runs } = await open();
  for (let attempt = 0; attempt < 20; attempt += 1)
    await control.fail({ method: 'CreateFolder', fault: 'NoPermission' });
  await create();
  await pass(15_000);
  await simulation.client.workflow.getHandle(workflowId).cancel();
  await pass(1_000);
  const said = read().metadata.annotations ?? {};
  expect(said[policyAnnotations.made]).toBe('cancelled 1');
  expect(said[policyAnnotations.waitsFor]).toMatch(/^The run was cancelled/u);
  await pass(120_000);
  expect(runs().map(({ status }) => status)).toEqual(['CANCELED']);

  await control.reset();
  await annotate({ 'drover.dev/retry': 'now' });
  await pass(30_000);
  const made = read().metadata.annotations ?? {};
  expect(made[policyAnnotations.made]).toBe('1');
  expect(made[policyAnnotations.waitsFor]).toBeUndefined();
  expect(made['drover.dev/retry-handled']).toBe('now');
  expect(runs().map(({ status }) => status)).toEqual(['CANCELED', 'COMPLETED']);
  deployment.close();
});

test('a deleted policy goes as soon as its last VirtualMachine has gone', async () => {
  const { deployment, create, pass, read, runs, admin } = await open();
  await create();
  // drover only observes it, so that it goes at once.
  const metadata = { namespace, name: 'web', annotations: { 'drover.dev/mode': 'observe' } };
  const spec = { className: 'small', reserved: { resourcePolicyName: name } };
  await admin.apply({ apiVersion: 'vmoperator.vmware.com/v1alpha6', kind: 'VirtualMachine', metadata, spec });
  await pass(60_000);
  await admin.remove(plural, name);
  await pass(45_000);
  expect(read().metadata.deletionTimestamp).toBeDefined();
  await admin.remove('virtualmachines', 'web');
  await pass(5_000);
  expect(read()).toBeNull();
  expect(runs().at(-1)).toMatchObject({ status: 'COMPLETED', result: { outcome: 'gone' } });
  deployment.close();
});

test.each([
  ['at once', 0],
  ['one after the other', 60_000],
])(
  'two policies that name the same folder and resource pool and are deleted %s leave nothing',
  async (_, betweenMs) => {
    const { deployment, pass, runs, find, admin } = await open();
    const shared = { folder: 'shared', resourcePool: { name: 'shared' } };
    const before = [...(await find('folder')), ...(await find('pool'))];
    for (const one of ['a', 'b'])
      await admin.apply({
        apiVersion: 'vmoperator.vmware.com/v1alpha6',
        kind: 'VirtualMachineSetResourcePolicy',
        metadata: { namespace, name: one },
        spec: shared,
      });
    await pass(60_000);
    expect((await find('folder')).filter((path) => path.endsWith('/shared'))).not.toEqual([]);
    expect((await find('pool')).filter((path) => path.endsWith('/shared'))).not.toEqual([]);
    await admin.remove(plural, 'a');
    if (betweenMs > 0) {
      await pass(betweenMs);
      // The other one has it still.
      expect((await find('folder')).filter((path) => path.endsWith('/shared'))).not.toEqual([]);
    }
    await admin.remove(plural, 'b');
    await pass(120_000);
    expect([...(await find('folder')), ...(await find('pool'))]).toEqual(before);
    expect(runs().at(-1)).toMatchObject({ status: 'COMPLETED', result: { outcome: 'gone' } });
    expect(runs().filter(({ status }) => status !== 'COMPLETED')).toEqual([]);
    deployment.close();
  },
);

test('a VirtualMachine that goes starts no run of a policy that stays', async () => {
  const { deployment, create, pass, runs, admin } = await open();
  await create();
  const metadata = { namespace, name: 'web', annotations: { 'drover.dev/mode': 'observe' } };
  const spec = { className: 'small', reserved: { resourcePolicyName: name } };
  await admin.apply({ apiVersion: 'vmoperator.vmware.com/v1alpha6', kind: 'VirtualMachine', metadata, spec });
  await pass(60_000);
  await admin.remove('virtualmachines', 'web');
  await pass(60_000);
  expect(runs()).toHaveLength(1);
  deployment.close();
});

test.each<[what: string, args: unknown[], says: RegExp]>([
  ['no input', [], /namespace and name are missing/u],
  ['an unknown field', [{ namespace, name, mode: 'observe' }], /mode: unknown field/u],
  ['a name that none has', [{ namespace, name: 'Apart' }], /is no name of a VirtualMachineSetResourcePolicy/u],
])('a run that is started by hand with %s fails at once', async (_, args, says) => {
  const { deployment, simulation, pass, runs } = await open({ bridge: false });
  await simulation.client.workflow.start(workflowTypes.reconcileSetResourcePolicy, {
    workflowId,
    taskQueue: workflowQueue(''),
    args: args as [],
  });
  await pass(5_000);
  expect(runs()).toMatchObject([{ status: 'FAILED', taskFailures: [] }]);
  expect(runs()[0]?.failure?.message).toMatch(says);
  deployment.close();
});

test('a run under another id hands over to the one of the object', async () => {
  const { deployment, simulation, create, pass, read, runs } = await open({ bridge: false });
  await create();
  await simulation.client.workflow.start(workflowTypes.reconcileSetResourcePolicy, {
    workflowId: 'mine',
    taskQueue: workflowQueue(''),
    args: [{ namespace, name }],
  });
  await pass(60_000);
  expect(runs()).toMatchObject([
    { workflowId: 'mine', result: { outcome: 'handedOver', message: `Run ${workflowId} drives team/apart` } },
    { workflowId, result: { outcome: 'reconciled' } },
  ]);
  expect(read().metadata.annotations?.[policyAnnotations.made]).toBe('1');
  deployment.close();
});
