import { condition } from '../../test/fixtures/activities/drift.ts';
import { testClock } from '../../test/fixtures/activities/nova.ts';
import type { HypervisorSettings } from '../../contracts/hypervisor/hypervisor.ts';
import { hypervisorConfig, hypervisorSettings } from '../../runtime/config/hypervisor-config.ts';
import type { ObservedInKubernetes } from '../kubernetes/hypervisor/observe-kubernetes.ts';
import type { ActivityScope } from '../lib/context.ts';
import { type ObserveTools, observeHypervisor } from './observe-hypervisor.ts';

const settings: HypervisorSettings = hypervisorSettings(hypervisorConfig.parse(undefined), {
  region: 'RegionOne',
  cluster: '',
  mode: 'act',
});
const world: ObservedInKubernetes = {
  desired: null,
  digest: null,
  recorded: {
    conditions: [],
    hypervisorId: null,
    serviceId: null,
    evicted: false,
    libVirtVersion: null,
    traits: null,
    aggregates: null,
    internalIp: null,
  },
  node: null,
  evictions: [],
  agentPods: null,
  drainGuard: null,
  certificate: null,
  hold: null,
};

/** Nova and Placement do not answer: a test in which they are asked fails. */
const silent = new Proxy(
  {},
  { get: (_, name) => () => Promise.reject(new Error(`${String(name)} was asked`)) },
) as never;

function toolsWith({ workflowId = 'hypervisor/node-1', isOff = false, started = [] as unknown[] } = {}): ObserveTools {
  const scope: ActivityScope = {
    signal: new AbortController().signal,
    deadlineMs: Infinity,
    heartbeatDetails: undefined,
    run: { workflowId, runId: 'r' },
    heartbeat: () => undefined,
    scheduledMs: 0,
    waitedMs: 0,
    warn: () => undefined,
  };
  return {
    nova: silent,
    region: silent,
    providers: silent,
    scope,
    clock: testClock(),
    settings,
    isOff,
    observeKubernetes: () => Promise.resolve(world),
    signalWithStart: (...args) => Promise.resolve(void started.push(args)),
    isFailureRunOpen: () => Promise.reject(new Error('Temporal was asked')),
  };
}

test('without a Hypervisor OpenStack is not asked: there is nothing to decide about it yet', async () => {
  expect(await observeHypervisor(toolsWith(), { hypervisor: 'node-1' }, 'all')).toMatchObject({
    kind: 'observed',
    desired: null,
    observed: { nova: null, provider: null, aggregates: [] },
  });
});

test('a run under another id hands over to the hypervisor’s own', async () => {
  const started: unknown[] = [];
  expect(
    await observeHypervisor(
      toolsWith({ workflowId: 'by-hand', started }),
      { hypervisor: 'node-1', startedBy: 'jane' },
      'all',
    ),
  ).toEqual({ kind: 'handedOver', message: 'Run hypervisor/node-1 drives node-1' });
  expect(started).toEqual([['node-1', 'jane']]);
});

test('a kind that is off is left alone, and says which setting that is', async () => {
  expect(await observeHypervisor(toolsWith({ isOff: true }), { hypervisor: 'node-1' }, 'all')).toEqual({
    kind: 'nothing',
    message: expect.stringContaining('modes.Hypervisor'),
  });
});

test('a user who starts it by hand may ask for less than the settings, not for more', async () => {
  expect(await observeHypervisor(toolsWith(), { hypervisor: 'node-1', mode: 'observe' }, 'all')).toMatchObject({
    settings: { mode: 'observe' },
  });
  const observing = { ...toolsWith(), settings: { ...settings, mode: 'observe' as const } };
  expect(await observeHypervisor(observing, { hypervisor: 'node-1', mode: 'act' }, 'all')).toMatchObject({
    settings: { mode: 'observe' },
  });
});

test('nonsense is refused', async () => {
  await expect(observeHypervisor(toolsWith(), { hypervisor: '' }, 'all')).rejects.toMatchObject({
    type: 'InvalidInput',
  });
});

test('whether a run judges its failure is asked where one is said, and failed hosts are handled', async () => {
  const failing: ObservedInKubernetes = {
    ...world,
    recorded: { ...world.recorded, conditions: [condition('NodeFailure', 'True', 'NoWitness')] },
  };
  const tools = (handlesNodeFailure: boolean, observed = failing): ObserveTools => ({
    ...toolsWith(),
    settings: { ...settings, handlesNodeFailure },
    observeKubernetes: () => Promise.resolve(observed),
    isFailureRunOpen: (hypervisor) => Promise.resolve(hypervisor !== 'node-1'),
  });
  const runOf = async (from: ObserveTools): Promise<unknown> => {
    const found = await observeHypervisor(from, { hypervisor: 'node-1' }, 'kubernetes');
    return found.kind === 'observed' ? found.observed.failureRun : found;
  };
  expect(await runOf(tools(true))).toBe('closed');
  expect(await runOf(tools(false))).toBeNull();
  expect(await runOf(tools(true, world))).toBeNull();
});
