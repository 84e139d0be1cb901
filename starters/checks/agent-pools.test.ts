import { poolCondition, samplePool } from '../../test/fixtures/starters/agent-pool.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { checkNeighbours, judgeIsoHosts, judgePools } from './agent-pools.ts';

const { signal } = new AbortController();
const away = samplePool({
  conditions: [
    poolCondition('VsphereReady', 'False', 'InvalidConfiguration', 'the vCenter vc-2 is not in drover’s settings'),
  ],
});

test.each<
  [why: string, pools: ReturnType<typeof samplePool>[], vcenters: string[], mode: 'observe' | 'act', is: string[]]
>([
  ['no pools', [], ['eu-1'], 'act', ['ok']],
  ['pools whose vCenters answer, or were not asked yet', [samplePool(), samplePool()], ['eu-1'], 'act', ['ok']],
  ['a pool whose server is in no settings', [samplePool(), away], ['eu-1'], 'act', ['fail']],
  ['no vCenter in the settings', [samplePool()], [], 'act', ['fail']],
  ['no vCenter in the settings, and drover only observes', [], [], 'observe', ['warn']],
])('vCenters of pools: %s', (_why, pools, vcenters, mode, statuses) => {
  expect(judgePools(pools, { mode, vcenters }).map(({ status }) => status)).toEqual(statuses);
});

test('a pool is named, with what its run has said', () => {
  expect(judgePools([away], { mode: 'act', vcenters: ['eu-1'] })).toEqual([
    {
      check: 'vCenter of pool team/gpu',
      status: 'fail',
      message: 'InvalidConfiguration: the vCenter vc-2 is not in drover’s settings',
      advice: expect.stringContaining('vsphere.vcenters'),
    },
  ]);
});

test('ISOs come from hosts that are named', () => {
  expect(judgeIsoHosts(['images.example.com'], 'act')).toMatchObject({ status: 'ok', message: 'images.example.com' });
  expect(judgeIsoHosts([], 'act').status).toBe('fail');
  expect(judgeIsoHosts([], 'observe').status).toBe('warn');
});

test('kinds of others that are not served are named, with who has them', async () => {
  const served = new Map<string, string[]>([
    ['/apis/agent-install.openshift.io/v1beta1', ['agents', 'infraenvs']],
    ['/apis/cluster.x-k8s.io/v1beta1', ['clusters']],
  ]);
  const kubernetes = {
    request: ({ path }: { path: string }) => {
      const names = served.get(path);
      return names === undefined
        ? Promise.reject(droverFailure('ObjectNotFound', 'there is none'))
        : Promise.resolve({ resources: names.map((name) => ({ name })) });
    },
  } as unknown as Kubernetes;
  const findings = await checkNeighbours(kubernetes, signal);
  expect(findings).toHaveLength(4);
  expect(findings.filter(({ status }) => status === 'fail').map(({ check, advice }) => [check, advice])).toEqual([
    ['CRD agentmachines.capi-provider.agent-install.openshift.io', expect.stringContaining('the Agent provider')],
    ['CRD machines.cluster.x-k8s.io', expect.stringContaining('Cluster API')],
  ]);
});
