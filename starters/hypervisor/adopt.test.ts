import { configSchema } from '../../runtime/config/config-schema.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { temporalAccessTo } from '../../test/fixtures/starters/temporal-access.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { accessBy } from '../command/kubernetes-access.ts';
import { adopt, type Adoption } from './adopt.ts';

const guard = { labels: { 'cobaltcore-maintenance-controller': 'maint-node-1' }, uid: 'g', resourceVersion: '3' };
const forced = {
  type: 'ForcedDown',
  status: 'True',
  reason: 'ByOthers',
  message: 'x',
  lastTransitionTime: '2026-01-31T10:00:00Z',
};
const hypervisor = (name: string, conditions: object[] = []) => ({
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata: { name, uid: name, resourceVersion: '7', generation: 2, creationTimestamp: '2026-01-31T10:00:00Z' },
  spec: {},
  status: { numInstances: 0, conditions },
});

interface Place {
  /** Uid of the cluster that Temporal belongs to; null: Temporal is away. The kubeconfig leads to `own`. */
  cluster: string | null;
  /** drover's settings; null: there are none. */
  settings: { guardsDrain: boolean } | null;
  /** Node-1 is not as its schema says. */
  odd: boolean;
}

/** Node-1 has guards left, node-2 is forced down. */
async function run(adoption: Partial<Adoption>, place: Partial<Place> = {}) {
  const { cluster = 'own', settings = { guardsDrain: false }, odd = false } = place;
  const written: string[] = [];
  const request = ({ method, path }: KubernetesRequest): Promise<unknown> => {
    if (method !== 'GET') written.push(`${method} ${path}`);
    const name = 'maint-node-1';
    if (path.endsWith('/poddisruptionbudgets') || path.endsWith('/deployments'))
      return Promise.resolve({ items: [{ metadata: { namespace: 'kube-system', name, ...guard } }] });
    if (path.endsWith('/namespaces/kube-system')) return Promise.resolve({ metadata: { uid: 'own' } });
    const first = { ...hypervisor('node-1'), ...(odd && { spec: 'none' }) };
    return Promise.resolve({ items: [first, hypervisor('node-2', [forced])] });
  };
  const kubernetes = { request } as unknown as Kubernetes;
  const abort = new AbortController().signal;
  const terminal = paper();
  const config = configSchema.parse({ hypervisor: { ...settings } });
  const access = accessBy(() => Promise.resolve(kubernetes), config, abort);
  const given = { hosts: [], consent: false, by: 'jane', ...adoption };
  const { client } = temporalAccessTo({
    connection: { close: async () => undefined },
    workflowService: { describeNamespace: async () => ({}) },
    schedule: { getHandle: () => ({ describe: async () => ({ action: { workflowId: `held-by/${cluster}` } }) }) },
  });
  const context = {
    ...sampleContext(terminal),
    loadConfig: async () => ({ config, file: settings === null ? null : 'drover.yaml' }),
    ...(cluster !== null && { openTemporal: async () => ({ client, address: 'a:1', namespace: 'n' }) }),
  };
  const failure = await adopt({ context, kubernetes: access, abort }, given).then(
    () => null,
    (error: unknown) => error,
  );
  return { written, failure, text: terminal.written };
}

test('without consent it only shows what is left', async () => {
  const { text, written, failure } = await run({});
  expect([failure, written]).toEqual([null, []]);
  expect(text.split('\n')).toEqual([
    'node-1: PodDisruptionBudget kube-system/maint-node-1 holds the drain of its Node back for ever',
    'node-1: Deployment kube-system/maint-node-1 holds the drain of its Node back for ever',
    expect.stringMatching(/^node-2: Nova has it forced down\. Make sure/u),
    expect.stringMatching(/^Nothing was changed\./u),
    '',
  ]);
});

test('with consent the guards are deleted, of those hosts alone', async () => {
  const { written, failure } = await run({ hosts: ['node-1'], consent: true });
  expect([failure, written]).toEqual([
    null,
    [
      'DELETE /apis/policy/v1/namespaces/kube-system/poddisruptionbudgets/maint-node-1',
      'DELETE /apis/apps/v1/namespaces/kube-system/deployments/maint-node-1',
    ],
  ]);
});

test('no consent is written where Temporal is away: it would lie in wait', async () => {
  const { written, failure } = await run({ hosts: ['node-2'], consent: true }, { cluster: null });
  expect(failure).toMatchObject({ message: 'there is no such system' });
  expect(written).toEqual([]);
});

test('a host that is none is named', async () => {
  const { written, failure } = await run({ hosts: ['node-3'], consent: true });
  expect(failure).toMatchObject({ exitCode: exitCodes.notFound });
  expect(written).toEqual([]);
});

test.each<[why: string, place: Partial<Place>, exitCode: number, message: RegExp]>([
  ['the kubeconfig leads to another cluster', { cluster: 'other' }, exitCodes.refused, /another Kubernetes cluster/u],
  [
    'whose guards they are is not known',
    { settings: null },
    exitCodes.usage,
    /guardsDrain.* not known without its settings\. Nothing was changed\.$/u,
  ],
])('nothing is deleted where %s', async (_why, place, exitCode, message) => {
  const { written, failure } = await run({ hosts: ['node-1'], consent: true }, place);
  expect(failure).toMatchObject({ exitCode, message: expect.stringMatching(message) });
  expect(written).toEqual([]);
});

test('without settings it shows what is left, and not that all of it can be taken back', async () => {
  const { text, failure } = await run({}, { settings: null });
  expect(failure).toBeNull();
  expect(text).toMatch(/^Nothing was changed\. .*is not known without its settings\. --consent needs them\.$/mu);
});

test('the guards of a host whose Hypervisor cannot be read are drover’s, where it holds drains back', async () => {
  const { written, failure, text } = await run(
    { hosts: ['node-1'], consent: true },
    { settings: { guardsDrain: true }, odd: true },
  );
  expect([failure, written]).toEqual([null, []]);
  expect(text).toMatch(/^Not as their schema says, .*forced down is not known: node-1\.$/mu);
});
