import { type Client, WorkflowNotFoundError } from '@temporalio/client';

import { observeKubernetes } from '../../activities/kubernetes/hypervisor/observe-kubernetes.ts';
import { readVirtualMachine } from '../../activities/kubernetes/virtual-machine/read-virtual-machine.ts';
import { fieldManager, hypervisorId, nodeMetadata, virtualMachineId } from '../../contracts/ids.ts';
import { digestMemo } from '../../contracts/runs.ts';
import { virtualMachineConfig, virtualMachineSettings } from '../../runtime/config/virtual-machine-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { randomOf } from '../faults/random.ts';
import { testScope } from '../fixtures/activities/nova.ts';
import { defaultBridgeTimings } from '../../k8s-bridge/run-bridge.ts';
import { createSimulatedBridge } from './bridge.ts';
import { createVirtualClock } from './clock.ts';
import { createNetwork } from './network.ts';

/**
 * A bridge is killed beside many reconciled objects. The digests that their last runs left are made by the activities
 * that observe, of what they read; the bridge makes its own, of what it watches.
 */

const vms = 2_000;
const hosts = 2_000;
const kvm = 'kvm.cloud.sap/v1';
const vmoperator = 'vmoperator.vmware.com/v1alpha6';
const never = new AbortController().signal;
const namespace = 'team';
const nameOfVm = (index: number): string => `vm-${index}`;
const nameOfHost = (index: number): string => `node-${index}`;
/** Which VMs are of the class that changes later, and which have the Secret. */
const isLarge = (index: number): boolean => index % 400 === 7;
const hasSecret = (index: number): boolean => index % 500 === 3;
/** Of these, the Secret is gone. */
const lacksSecret = (index: number): boolean => index % 1_000 === 4;

const random = randomOf(1);
const clock = createVirtualClock(Date.UTC(2026, 0, 1), random);
const network = createNetwork({ clock, random });
const kubernetes = createFakeKubernetes({ clock, network, random });
const { admin } = kubernetes;

interface LeftRun {
  workflowId: string;
  startTime: Date;
  status: { name: string };
  memo?: Record<string, unknown>;
}
let left: LeftRun[] = [];
let signalled: string[] = [];
/** What the bridge knew of a run as it started it: its digest, by workflow ids. */
const startedWith = new Map<string, unknown>();
let refusals = 0;
let described = 0;
const run = <Result>(_limit: unknown, calls: () => Promise<Result>): Promise<Result> => calls();
const temporal = {
  options: { namespace: 'default' },
  workflowService: { getSystemInfo: async () => ({}) },
  withDeadline: run,
  withAbortSignal: run,
  workflow: {
    async signalWithStart(_type: string, { workflowId, memo }: { workflowId: string; memo: Record<string, unknown> }) {
      signalled.push(workflowId);
      startedWith.set(workflowId, memo[digestMemo]);
      return { signaledRunId: 'run-1' };
    },
    async *list({ query }: { query: string }) {
      if (refusals > 0) {
        refusals -= 1;
        throw new Error('visibility is away');
      }
      const prefix = query.includes('reconcileVirtualMachine') ? 'virtualmachine/' : 'hypervisor/';
      const isListed = ({ name }: LeftRun['status']): boolean =>
        name === 'TERMINATED' || !query.includes("ExecutionStatus = 'Terminated'");
      for (const run of left)
        if (run.workflowId.startsWith(prefix) && isListed(run.status))
          yield { ...run, runId: `${run.workflowId} ${run.startTime.toISOString()}` };
    },
    getHandle: (workflowId: string) => ({
      async describe() {
        const run = left.find((one) => one.workflowId === workflowId);
        described += 1;
        if (run === undefined) throw new WorkflowNotFoundError('no run', workflowId, undefined);
        return run;
      },
    }),
  },
} as unknown as Client;

/** RBAC of the bridge. */
let readsSecrets = true;
const client: Kubernetes = {
  ...kubernetes.client,
  request: (request, signal) =>
    readsSecrets || !request.path.includes('/secrets/')
      ? kubernetes.client.request(request, signal)
      : Promise.reject(droverFailure('KubernetesForbidden', 'it may not get Secrets')),
};

const bridge = createSimulatedBridge({
  clock,
  random,
  kubernetes: client,
  temporal,
  settings: () => ({
    modes: { Eviction: 'off', Hypervisor: 'act', VirtualMachine: 'act', VirtualMachineSetResourcePolicy: 'off' },
  }),
  log: createLogger({ level: 'error', component: 'test' }),
});
const pass = (ms: number): Promise<void> => drive(clock, clock.sleep(ms));

const post = (apiVersion: string, plural: string, body: object, inNamespace?: string): Promise<unknown> =>
  admin.request(
    {
      method: 'POST',
      path: resourcePath(apiVersion, plural, inNamespace === undefined ? {} : { namespace: inNamespace }),
      body,
    },
    never,
  );
const patch = (path: string, body: object, query = {}): Promise<unknown> =>
  admin.request({ method: 'PATCH', patchType: 'merge', path, body, query }, never);
/** As drover says it. */
const say = (path: string, conditions: object[]): Promise<unknown> =>
  patch(
    path,
    {
      status: {
        conditions: conditions.map((one) => ({ message: '', lastTransitionTime: '2026-01-01T00:00:00Z', ...one })),
      },
    },
    { fieldManager },
  );
const reconciled = (path: string, observedGeneration = 1): Promise<unknown> =>
  say(path, [{ type: 'Lifecycle', status: 'True', reason: 'Reconciled', observedGeneration }]);
const blocked = (path: string): Promise<unknown> =>
  say(path, [
    { type: 'Lifecycle', status: 'False', reason: 'BootstrapNotReady', observedGeneration: 1 },
    { type: 'VirtualMachineBootstrapReady', status: 'False', reason: 'NotFound' },
  ]);
const bootstrapFrom = (name: string): object => ({ cloudInit: { rawCloudConfig: { name, key: 'a' } } });
const postSecret = (name: string): Promise<unknown> =>
  post('v1', 'secrets', { apiVersion: 'v1', kind: 'Secret', metadata: { name }, data: { a: 'Yg==' } }, namespace);
const vmPath = (index: number, subresource?: string): string =>
  resourcePath(vmoperator, 'virtualmachines', {
    namespace,
    name: nameOfVm(index),
    ...(subresource !== undefined && { subresource }),
  });
const classPath = (name: string): string => resourcePath(vmoperator, 'virtualmachineclasses', { namespace, name });
const hypervisorPath = (index: number, subresource?: string): string =>
  resourcePath(kvm, 'hypervisors', { name: nameOfHost(index), ...(subresource !== undefined && { subresource }) });
const secretPath = resourcePath('v1', 'secrets', { namespace, name: 'boot' });
const all = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

const vmTools = {
  client: openObjects(admin),
  settings: virtualMachineSettings(virtualMachineConfig.parse({}), { vcenters: ['vc'], cluster: '', mode: 'act' }),
  imageCacheNamespace: 'drover-system',
  signalWithStart: () => Promise.reject(new Error('asked')),
  hashSecret: () => Promise.resolve('h'),
  stopGate: () => Promise.resolve(),
  audit: { record: () => Promise.resolve() },
  clock,
  scope: testScope({ run: null }),
};
const hypervisorTools = {
  client: openObjects(admin),
  scope: { signal: never },
  copiedLabels: [],
  agentNamespaces: [],
  guardsDrain: false,
  readCertificate: () => Promise.resolve(null),
};

/** The runs that have observed everything as it is now. */
async function observeAll(): Promise<LeftRun[]> {
  const ended = { startTime: new Date(clock.now()), status: { name: 'COMPLETED' } };
  const ofVms = await Promise.all(
    all(vms).map(async (index) => {
      const read = await readVirtualMachine(vmTools, { namespace, name: nameOfVm(index) });
      const digest = read.kind === 'observed' ? read.digest : null;
      return { ...ended, workflowId: virtualMachineId(namespace, nameOfVm(index)), memo: { [digestMemo]: digest } };
    }),
  );
  const ofHosts = await Promise.all(
    all(hosts).map(async (index) => {
      const { digest } = await observeKubernetes(hypervisorTools, nameOfHost(index));
      return { ...ended, workflowId: hypervisorId(nameOfHost(index)), memo: { [digestMemo]: digest } };
    }),
  );
  return [...ofVms, ...ofHosts];
}

/** Each once: no run is there that would be open, so that a comparison signals again. */
const named = (): string[] => [...new Set(signalled)].toSorted();

/** kill -9 and a new process; what was signalled until it has compared everything. */
async function restart(): Promise<string[]> {
  bridge.kill();
  signalled = [];
  bridge.start();
  await pass(120_000);
  return named();
}
const vmIds = (concerned: (index: number) => boolean): string[] =>
  all(vms)
    .filter(concerned)
    .map((index) => virtualMachineId(namespace, nameOfVm(index)))
    .toSorted();

beforeAll(async () => {
  await post('v1', 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await postSecret('boot');
  for (const name of ['small', 'large']) {
    const spec = { hardware: { cpus: 1, memory: '1Gi' } };
    await post(
      vmoperator,
      'virtualmachineclasses',
      { apiVersion: vmoperator, kind: 'VirtualMachineClass', metadata: { name }, spec },
      namespace,
    );
  }
  const image = { apiVersion: vmoperator, kind: 'VirtualMachineImage', metadata: { name: 'vmi' }, spec: {} };
  await post(vmoperator, 'virtualmachineimages', image, namespace);
  for (const index of all(vms)) {
    const spec = {
      className: isLarge(index) ? 'large' : 'small',
      image: { kind: 'VirtualMachineImage', name: 'vmi' },
      ...(hasSecret(index) && { bootstrap: bootstrapFrom('boot') }),
      ...(lacksSecret(index) && { bootstrap: bootstrapFrom('gone') }),
    };
    const metadata = { name: nameOfVm(index) };
    await post(
      vmoperator,
      'virtualmachines',
      { apiVersion: vmoperator, kind: 'VirtualMachine', metadata, spec },
      namespace,
    );
    await (lacksSecret(index) ? blocked : reconciled)(vmPath(index, 'status'));
  }
  for (const index of all(hosts)) {
    const labels = { [nodeMetadata.virtDriver]: 'libvirt' };
    const metadata = { name: nameOfHost(index) };
    await post('v1', 'nodes', { apiVersion: 'v1', kind: 'Node', metadata: { ...metadata, labels } });
    await post(kvm, 'hypervisors', { apiVersion: kvm, kind: 'Hypervisor', metadata, spec: {} });
    await reconciled(hypervisorPath(index, 'status'));
  }
  left = await observeAll();
  bridge.start();
  await pass(120_000);
}, 1_800_000);

test('beside 2,000 reconciled VMs and 2,000 hypervisors no run is started for what has not changed', async () => {
  expect(signalled).toEqual([]);
  expect(bridge.stats()).toMatchObject({ unchanged: vms + hosts, queue: { delivered: 0 } });
  expect(await restart()).toEqual([]);
  // drover's own status changes nothing, nor does a heartbeat of the kubelet.
  bridge.kill();
  await reconciled(vmPath(0, 'status'));
  await patch(hypervisorPath(0, 'status'), { status: { traits: ['A'] } }, { fieldManager });
  await patch(resourcePath('v1', 'nodes', { name: nameOfHost(0), subresource: 'status' }), {
    status: { capacity: { cpu: '4' } },
  });
  expect(await restart()).toEqual([]);
  // Visibility may be away for a while.
  refusals = 5;
  expect(await restart()).toEqual([]);
  expect(bridge.stats()).toMatchObject({ unchanged: vms + hosts });
  expect(await bridge.health()).toMatchObject({ ok: true, reasons: [] });
}, 1_800_000);

test('a bridge that has not compared yet says so, and why', async () => {
  refusals = Infinity;
  bridge.kill();
  bridge.start();
  await pass(60_000);
  const notCompared = (kind: string): unknown =>
    expect.stringMatching(new RegExp(`^${kind} has not been compared .+; visibility is away$`, 'u'));
  expect(await bridge.health()).toMatchObject({
    ok: false,
    reasons: expect.arrayContaining([notCompared('VirtualMachine'), notCompared('Hypervisor')]),
  });
  refusals = 0;
  await pass(60_000);
  expect(await bridge.health()).toMatchObject({ ok: true, reasons: [] });
}, 1_800_000);

test.each<
  [what: string, change: () => Promise<unknown>, concerned: () => string[], reconcile?: () => Promise<unknown>]
>([
  // The digest leaves the object's own generation out: what is reconciled for another one is not reconciled.
  [
    'a spec',
    () => patch(vmPath(21), { spec: { powerState: 'PoweredOff' } }),
    () => vmIds((index) => index === 21),
    () => reconciled(vmPath(21, 'status'), 2),
  ],
  [
    'the spec of a Hypervisor',
    () => patch(hypervisorPath(21), { spec: { maintenance: 'auto' } }),
    () => [hypervisorId(nameOfHost(21))],
    () => reconciled(hypervisorPath(21, 'status'), 2),
  ],
  ['a class', () => patch(classPath('large'), { spec: { hardware: { cpus: 2 } } }), () => vmIds(isLarge)],
  [
    // Needed once: by the one that waits for it, as by a bridge that goes on.
    'an image',
    async () => {
      await patch(vmPath(22), { spec: { powerState: 'PoweredOff' } });
      await patch(resourcePath(vmoperator, 'virtualmachineimages', { namespace, name: 'vmi', subresource: 'status' }), {
        status: { providerItemID: 'item-2' },
      });
    },
    () => vmIds((index) => index === 22),
    () => reconciled(vmPath(22, 'status'), 2),
  ],
  ['a Secret', () => patch(secretPath, { data: { a: 'Yw==' } }), () => vmIds(hasSecret)],
  [
    'a Node',
    () => patch(resourcePath('v1', 'nodes', { name: nameOfHost(5) }), { spec: { unschedulable: true } }),
    () => [hypervisorId(nameOfHost(5))],
  ],
  [
    'an Eviction',
    () =>
      post(kvm, 'evictions', {
        apiVersion: kvm,
        kind: 'Eviction',
        metadata: { name: 'e' },
        spec: { hypervisor: nameOfHost(9), reason: 'test' },
      }),
    () => [hypervisorId(nameOfHost(9))],
  ],
])(
  '%s that changed while no bridge was there: exactly the runs that it concerns',
  async (_what, change, concerned, reconcile = async () => undefined) => {
    bridge.kill();
    await change();
    expect(await restart()).toEqual(concerned());
    await reconcile();
    left = await observeAll();
    // The bridge knows beforehand what such a run observes, so that it writes no memo; but for a Secret, which the
    // bridge does not read.
    for (const { workflowId, memo } of left.filter((one) => concerned().includes(one.workflowId)))
      expect(startedWith.get(workflowId)).toBe(String(memo?.[digestMemo]).split(' ')[0]);
    expect(await restart()).toEqual([]);
  },
  1_800_000,
);

test('a run that is not known any more, has left no digest, has not come to its end, or is open', async () => {
  const ids = [11, 12, 13, 14, 15].map((index) => virtualMachineId(namespace, nameOfVm(index)));
  const [forgotten, switchedOff, failed, terminated, open] = ids;
  const startTime = new Date(clock.now() + 1);
  const ended = (workflowId: string | undefined, name: string): LeftRun => ({
    ...left.find((one) => one.workflowId === workflowId)!,
    startTime,
    status: { name },
  });
  left = [
    { workflowId: switchedOff!, startTime, status: { name: 'COMPLETED' } },
    // With the digest that they were started with, which is that of now.
    ended(failed, 'FAILED'),
    ended(terminated, 'TERMINATED'),
    ended(open, 'RUNNING'),
    ...left.filter(({ workflowId }) => workflowId !== forgotten),
  ];
  expect(await restart()).toEqual(ids.toSorted());
}, 1_800_000);

test('a Secret that is missing is looked for, and runs that lack it are started once it is there', async () => {
  const ids = vmIds(lacksSecret);
  const [open, ...others] = ids;
  left = await observeAll();
  expect(await restart()).toEqual([]);
  const looked = async (): Promise<string[]> => {
    signalled = [];
    await pass(defaultBridgeTimings.secretsMs + 60_000);
    return named();
  };
  expect(await looked()).toEqual([]);
  // Whether it is there is not known: then a run looks.
  readsSecrets = false;
  expect(await looked()).toEqual(ids);
  // As for a bridge that goes on.
  expect(await restart()).toEqual([]);
  readsSecrets = true;
  expect(await looked()).toEqual([]);

  await postSecret('gone');
  // One that is open looks itself.
  const ended = left;
  left = left.map((one) => (one.workflowId === open ? { ...one, status: { name: 'RUNNING' } } : one));
  expect(await looked()).toEqual(others);
  left = ended;
  expect(await looked()).toEqual(ids);
  left = await observeAll();
  expect(await looked()).toEqual([]);
  // Temporal knows the run no more.
  left = left.filter(({ workflowId }) => workflowId !== open);
  expect(await looked()).toEqual([open]);
}, 1_800_000);

test('a run that was terminated is followed by another, whatever its object said before', async () => {
  left = await observeAll();
  expect(await restart()).toEqual([]);
  const looked = async (): Promise<string[]> => {
    signalled = [];
    await pass(defaultBridgeTimings.terminatedMs + 60_000);
    return named();
  };
  expect(await looked()).toEqual([]);
  const completed = left;
  const [again, ended, goesOn] = [
    virtualMachineId(namespace, nameOfVm(31)),
    hypervisorId(nameOfHost(32)),
    hypervisorId(nameOfHost(33)),
  ];
  const isOf =
    (...ids: string[]) =>
    ({ workflowId }: LeftRun): boolean =>
      ids.includes(workflowId);
  const before = left.filter(isOf(again, ended, goesOn)).map((one) => ({ ...one, status: { name: 'TERMINATED' } }));
  const others = left.filter((one) => !isOf(again, ended)(one));
  // A run that has come after the one that was terminated is the last.
  left = [...before.filter(isOf(again, ended)), ...others, ...before.filter(isOf(goesOn))];
  expect(await looked()).toEqual([again, ended].toSorted());
  // What was judged is not asked about again, though it is listed for hours.
  left = [...completed, ...before];
  const sinceThen = described;
  expect(await looked()).toEqual([]);
  expect(described).toBe(sinceThen);
}, 1_800_000);
