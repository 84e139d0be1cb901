import type { ObservedNodeFailure } from '../../contracts/node-failure/activities.ts';
import { systemClock } from '../../runtime/clock.ts';
import { nodeFailureConfig } from '../../runtime/config/node-failure-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { sampleHypervisor } from '../../test/fixtures/activities/hypervisor.ts';
import { testClock } from '../../test/fixtures/activities/nova.ts';
import { nodeSchema } from '../kubernetes/hypervisor/node-schema.ts';
import type { ActivityScope } from '../lib/context.ts';
import { createNodeFailureHostActivities } from './node-failure-activities.ts';
import { type NodeFailureTools, observeNodeFailure } from './observe-node-failure.ts';

const config = nodeFailureConfig.parse({
  mode: 'recommend',
  bmc: { url: 'https://{host}.bmc', hosts: { 'node-1': { uuid: 'u' } }, username: 'drover', passwordFile: '/p' },
});

const nodeOf = (ready: string) =>
  nodeSchema.parse({
    metadata: { name: 'node-1', uid: 'n', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    status: {
      nodeInfo: { bootID: 'boot-1' },
      conditions: [{ type: 'Ready', status: ready, lastTransitionTime: '2026-01-01T00:00:00Z' }],
    },
  });

interface World {
  ready?: string;
  state?: 'up' | 'down';
  annotations?: Record<string, string>;
  power?: () => Promise<'On' | 'Off'>;
  away?: ('kube-apiserver' | 'Nova' | 'Placement')[];
  hasHypervisor?: boolean;
  mode?: 'off' | 'recommend';
  workflowId?: string;
}

function fixture({
  ready = 'True',
  state = 'up',
  annotations = {},
  power = () => Promise.resolve('Off' as const),
  away = [],
  hasHypervisor = true,
  mode = 'recommend',
  workflowId = 'node-failure/node-1',
}: World) {
  const asked: string[] = [];
  const started: unknown[] = [];
  const answer = <Value>(system: NonNullable<World['away']>[number], value: Value): Promise<Value> =>
    away.includes(system)
      ? Promise.reject(droverFailure('NovaUnavailable', `${system} is away`))
      : Promise.resolve(value);
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
  const service = {
    id: 's',
    host: 'node-1',
    zone: 'z',
    status: 'enabled',
    state,
    disabledReason: null,
    forcedDown: false,
    cellDown: false,
  };
  const tools = {
    nova: {
      computeServices: () => answer('Nova', [service]),
      aggregates: () => answer('Nova', []),
      schedulersUp: () => answer('Nova', 1),
    },
    placement: { existingTraits: () => answer('Placement', []) },
    client: {
      get: () => answer('kube-apiserver', hasHypervisor ? sampleHypervisor({ annotations }) : null),
      listValid: () => answer('kube-apiserver', [nodeOf(ready)]),
    },
    config: { ...config, mode },
    libvirt: null,
    cluster: '',
    region: 'RegionOne',
    power: {
      observePower: async ({ host }: { host: string }) => {
        asked.push(host);
        return { host, power: await power(), atMs: 0 };
      },
    },
    readFencingLog: () => answer('kube-apiserver', { last: null, silent: [] }),
    signalWithStart: (...args: unknown[]) => Promise.resolve(void started.push(args)),
    scope,
    clock: systemClock,
  } as unknown as NodeFailureTools;
  return { tools, asked, started };
}

async function observe(
  world: World,
): Promise<{ found: Extract<ObservedNodeFailure, { kind: 'observed' }>['observed']; asked: string[] }> {
  const { tools, asked } = fixture(world);
  const answer = await observeNodeFailure(tools, { hypervisor: 'node-1' });
  if (answer.kind !== 'observed') throw new Error(`it is ${answer.kind}`);
  return { found: answer.observed, asked };
}

test('a host that is well is not asked for its power', async () => {
  const { found, asked } = await observe({
    annotations: { 'drover.dev/hold': 'NodeFailure: x', 'drover.dev/fenced-boot-id': 'boot-0' },
  });
  expect(found).toMatchObject({
    hypervisor: { uid: 'hv-1', hold: 'NodeFailure', fencedBootId: 'boot-0' },
    node: { ready: 'True', bootId: 'boot-1' },
    compute: { state: 'up' },
    power: null,
    problems: [],
  });
  expect(asked).toEqual([]);
});

const suspicious: [why: string, world: World, found: object][] = [
  ['its Node is silent', { ready: 'Unknown' }, { power: 'Off', problems: [] }],
  ['nova-compute is down', { state: 'down' }, { power: 'Off' }],
  [
    'kube-apiserver does not answer',
    { away: ['kube-apiserver'] },
    { power: 'Off', hypervisor: null, node: null, problems: [expect.stringContaining('kube-apiserver is away')] },
  ],
  [
    'Nova does not answer',
    { away: ['Nova'] },
    { power: 'Off', nova: null, compute: null, problems: [expect.stringContaining('Nova is away')] },
  ],
  [
    'its BMC does not answer either',
    { ready: 'Unknown', power: () => Promise.reject(droverFailure('BmcUnreachable', 'it hangs')) },
    { power: 'Unknown', problems: [expect.stringContaining('it hangs')] },
  ],
];
test.each(suspicious)('the BMC is asked where %s', async (_why, world, expected) => {
  const { found, asked } = await observe(world);
  expect(found).toMatchObject(expected);
  expect(asked).toEqual(['node-1']);
});

test('Placement that does not answer is only said', async () => {
  expect((await observe({ away: ['Placement'] })).found.fleet.apis).toContainEqual({
    name: 'Placement',
    reachable: false,
  });
});

test('nothing is done where it is switched off, or where there is no such Hypervisor', async () => {
  expect(await observeNodeFailure(fixture({ mode: 'off' }).tools, { hypervisor: 'node-1' })).toEqual({
    kind: 'nothing',
    message: expect.stringContaining('nodeFailure.mode'),
  });
  expect(await observeNodeFailure(fixture({ hasHypervisor: false }).tools, { hypervisor: 'node-1' })).toEqual({
    kind: 'nothing',
    message: 'There is no Hypervisor node-1',
  });
});

test('a run under another id hands over to the host’s own', async () => {
  const { tools, started } = fixture({ workflowId: 'by-hand' });
  expect(await observeNodeFailure(tools, { hypervisor: 'node-1', startedBy: 'jane' })).toEqual({
    kind: 'handedOver',
    message: 'Run node-failure/node-1 deals with node-1',
  });
  expect(started).toEqual([['node-1', 'jane']]);
});

test('a cancel is no answer, and nonsense is refused', async () => {
  const { tools } = fixture({ away: ['Nova'] });
  const cancelled = { ...tools, scope: { ...tools.scope, signal: AbortSignal.abort(new Error('cancelled')) } };
  await expect(observeNodeFailure(cancelled, { hypervisor: 'node-1' })).rejects.toThrow('cancelled');
  await expect(observeNodeFailure(tools, { hypervisor: '' })).rejects.toMatchObject({ type: 'InvalidInput' });
});

test('hosts that are observed in the same moment share a list of all Nodes', async () => {
  const { tools } = fixture({});
  let lists = 0;
  const listValid = async () => {
    lists += 1;
    return [nodeOf('True')];
  };
  const activities = createNodeFailureHostActivities({
    ...tools,
    client: { ...tools.client, listValid } as unknown as NodeFailureTools['client'],
    clock: testClock(),
    scope: () => tools.scope,
    signalWithStart: () => Promise.resolve(),
  });
  const observe = () => activities.observeNodeFailure({ hypervisor: 'node-1' });
  const answers = await Promise.all(Array.from({ length: 100 }, observe));
  expect(answers.filter((answer) => answer.kind === 'observed' && answer.observed.node !== null)).toHaveLength(100);
  expect(lists).toBe(1);
});
