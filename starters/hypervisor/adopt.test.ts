import { configSchema } from '../../runtime/config/config-schema.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
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

/** Node-1 has guards left, node-2 is forced down. */
async function run(adoption: Partial<Adoption>) {
  const written: string[] = [];
  const request = ({ method, path }: KubernetesRequest): Promise<unknown> => {
    if (method !== 'GET') written.push(`${method} ${path}`);
    const name = 'maint-node-1';
    if (path.endsWith('/poddisruptionbudgets') || path.endsWith('/deployments'))
      return Promise.resolve({ items: [{ metadata: { namespace: 'kube-system', name, ...guard } }] });
    return Promise.resolve({ items: [hypervisor('node-1'), hypervisor('node-2', [forced])] });
  };
  const kubernetes = { request } as unknown as Kubernetes;
  const abort = new AbortController().signal;
  const terminal = paper();
  const access = accessBy(() => Promise.resolve(kubernetes), configSchema.parse({}), abort);
  const given = { hosts: [], consent: false, by: 'jane', ...adoption };
  const failure = await adopt({ context: sampleContext(terminal), kubernetes: access, abort }, given).then(
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
  const { written, failure } = await run({ hosts: ['node-2'], consent: true });
  expect(failure).toMatchObject({ message: 'there is no such system' });
  expect(written).toEqual([]);
});

test('a host that is none is named', async () => {
  const { written, failure } = await run({ hosts: ['node-3'], consent: true });
  expect(failure).toMatchObject({ exitCode: exitCodes.notFound });
  expect(written).toEqual([]);
});
