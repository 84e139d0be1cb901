import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';

import type { ObjectChanged } from '../../contracts/messages.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';
import { drive } from '../fakes/drive.ts';
import { createFakeKubernetes } from '../fakes/kubernetes/fake-kubernetes.ts';
import { randomOf } from '../faults/random.ts';
import type { SimulatedBridge } from './bridge.ts';
import { createSimulatedBridge } from './bridge.ts';
import type { VirtualClock } from './clock.ts';
import { createVirtualClock } from './clock.ts';
import { createNetwork } from './network.ts';
import { currentProcess } from './process.ts';
import { mostSignalsWithin } from '../flows/read-signals.ts';

const log = createLogger({ level: 'error', component: 'test' });
const signal = new AbortController().signal;

interface Signal {
  workflowId: string;
  cause: string;
  generation: number;
  process: string;
  atMs: number;
}

/** As much of a client as the bridge needs where no run is open: it takes signals. */
function recordingClient(clock: VirtualClock): { client: Client; signals: Signal[] } {
  const signals: Signal[] = [];
  const workflow = {
    async signalWithStart(
      _type: string,
      { workflowId, signalArgs: [{ cause, generation }] }: { workflowId: string; signalArgs: [ObjectChanged] },
    ) {
      signals.push({ workflowId, cause, generation, process: currentProcess().name, atMs: clock.now() });
      return { signaledRunId: 'run-1' };
    },
    getHandle: () => ({
      async describe() {
        throw new WorkflowNotFoundError('there is none', 'id', undefined);
      },
    }),
  };
  const run = <Result>(_limit: unknown, calls: () => Promise<Result>): Promise<Result> => calls();
  return { client: { workflow, withDeadline: run, withAbortSignal: run } as unknown as Client, signals };
}

function simulate(seed: number) {
  const random = randomOf(seed);
  const clock = createVirtualClock(Date.UTC(2026, 0, 1), random);
  const network = createNetwork({ clock, random });
  const kubernetes = createFakeKubernetes({ clock, network, random });
  const temporal = recordingClient(clock);
  const modes = {
    Eviction: 'act',
    Hypervisor: 'off',
    VirtualMachine: 'off',
    VirtualMachineSetResourcePolicy: 'off',
  } as const;
  const newBridge = (): SimulatedBridge =>
    createSimulatedBridge({
      clock,
      random,
      kubernetes: kubernetes.client,
      temporal: temporal.client,
      settings: () => ({ modes }),
      log,
    });
  const evict = (name: string): Promise<unknown> =>
    kubernetes.admin.request(
      {
        method: 'POST',
        path: resourcePath('kvm.cloud.sap/v1', 'evictions'),
        body: {
          apiVersion: 'kvm.cloud.sap/v1',
          kind: 'Eviction',
          metadata: { name },
          spec: { hypervisor: name, reason: 'test' },
        },
      },
      signal,
    );
  const pass = (ms: number): Promise<void> => drive(clock, clock.sleep(ms));
  return { clock, network, kubernetes, ...temporal, newBridge, evict, pass };
}

test('what happens to an object is told to its run within a second', async () => {
  const { newBridge, evict, pass, signals, clock } = simulate(1);
  newBridge().start();
  await pass(5_000);
  const madeMs = clock.now();
  await evict('node-1');
  await pass(1_000);
  expect(signals).toMatchObject([{ workflowId: 'eviction/node-1', cause: 'spec', process: 'bridge' }]);
  expect(signals[0]!.atMs - madeMs).toBeLessThan(1_000);
});

test('one object is edited 100 times a second: at most 5 signals a second, some in each, and the last state is told', async () => {
  const { newBridge, evict, pass, signals, kubernetes } = simulate(1);
  newBridge().start();
  await pass(5_000);
  await evict('node-1');
  const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: 'node-1' });
  for (let edit = 1; edit <= 300; edit += 1) {
    const body = { spec: { reason: `edit ${edit}` } };
    await kubernetes.admin.request({ method: 'PATCH', path, patchType: 'merge', body }, signal);
    await pass(10);
  }
  await pass(2_000);
  expect(kubernetes.object('evictions', { name: 'node-1' })?.metadata.generation).toBe(301);
  expect(signals.at(-1)?.generation).toBe(301);
  expect(mostSignalsWithin(signals, 1_000)).toBeLessThanOrEqual(5);
  expect(signals.length).toBeGreaterThanOrEqual(9);
});

test('a bridge that was killed does nothing more, and the next one takes up what it missed once the Lease has run out', async () => {
  const { newBridge, evict, pass, signals, kubernetes, network } = simulate(2);
  const bridge = newBridge();
  bridge.start();
  await pass(5_000);
  bridge.kill();
  const calls = network.calls.length;
  await evict('node-2');
  await pass(60_000);
  expect({ signals, calls: network.calls.length - calls }).toEqual({ signals: [], calls: 0 });
  bridge.start();
  await pass(20_000);
  expect(signals).toMatchObject([{ workflowId: 'eviction/node-2', cause: 'relist' }]);
  expect(kubernetes.object('leases', { namespace: 'drover-system', name: 'drover-bridge' })).toMatchObject({
    spec: { leaseTransitions: 1 },
  });
});

test.each([
  ['ends', 'ended', false],
  ['breaks', 'broken', false],
  ['ends, and what was is compacted', 'ended', true],
  ['breaks, and what was is compacted', 'broken', true],
] as const)('nothing is missed when the watch %s', async (_how, how, isCompacted) => {
  const { newBridge, evict, pass, signals, kubernetes, network } = simulate(4);
  newBridge().start();
  await pass(5_000);
  network.setAway('kubernetes', true);
  kubernetes.endWatches(how);
  await evict('node-3');
  if (isCompacted) {
    await evict('node-4');
    kubernetes.compact();
  }
  await pass(2_000);
  network.setAway('kubernetes', false);
  await pass(60_000);
  expect(new Set(signals.map(({ workflowId }) => workflowId))).toEqual(
    new Set(isCompacted ? ['eviction/node-3', 'eviction/node-4'] : ['eviction/node-3']),
  );
});

test('the same seed makes the same story', async () => {
  const stories = [];
  for (const seed of [7, 7, 8]) {
    const { newBridge, evict, pass, signals, network } = simulate(seed);
    const bridge = newBridge();
    bridge.start();
    await evict('node-6');
    await pass(30_000);
    bridge.kill();
    bridge.start();
    await pass(600_000);
    stories.push(JSON.stringify([signals, network.calls]));
  }
  expect(stories[0]).toBe(stories[1]);
  expect(stories[0]).not.toBe(stories[2]);
});
