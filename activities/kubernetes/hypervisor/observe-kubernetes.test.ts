import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { observeKubernetes, readHold, userHoldOf } from './observe-kubernetes.ts';

const rows: [text: string | undefined, hold: ReturnType<typeof readHold>][] = [
  [undefined, null],
  ['Fenced: powered off by bmc-1: twice', { reason: 'Fenced', message: 'powered off by bmc-1: twice' }],
  [' Partition:judged ', { reason: 'Partition', message: 'judged' }],
  ['disks to be replaced', { reason: 'Held', message: 'disks to be replaced' }],
  ['Fenced:', { reason: 'Held', message: 'Fenced:' }],
  ['', { reason: 'Held', message: 'annotation drover.dev/hold does not say why' }],
];

test.each(rows)('the annotation %j', (text, hold) => {
  expect(readHold(text)).toEqual(hold);
});

const hold = (text: string) => ({ 'drover.dev/hold': text });
const kept = { 'drover.dev/user-hold': 'Disk: wait' };

test.each([
  ['there is none', {}, null],
  ['it stands alone', hold('Disk: wait'), 'Disk: wait'],
  ['drover holds the host, and no user does', hold('NodeFailure: fenced'), null],
  ['drover holds the host besides', { ...hold('NodeFailure: fenced'), ...kept }, 'Disk: wait'],
  ['a user has written another one since', { ...hold('Memory: DIMM 3'), ...kept }, 'Memory: DIMM 3'],
  ['a user has taken all of it away', kept, null],
])('a user’s hold where %s', (_why, given, text) => {
  expect(userHoldOf(given)).toBe(text);
});

const { signal } = new AbortController();
const metadata = {
  name: 'node-1',
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const hypervisor = { apiVersion: 'kvm.cloud.sap/v1', kind: 'Hypervisor', metadata, spec: {} };
const eviction = {
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata,
  spec: { hypervisor: 'node-1', reason: 'test' },
};
const tainted = { metadata, spec: { taints: [{ key: 'kvm.cloud.sap/offboarding', effect: 'NoExecute' }] } };

/** kube-apiserver, with these answers by plural. */
const look = (answers: Record<string, unknown>) => {
  const all: Record<string, unknown> = {
    hypervisors: hypervisor,
    nodes: tainted,
    evictions: { items: [] },
    pods: { items: [] },
    poddisruptionbudgets: { metadata, spec: {} },
    deployments: { metadata, spec: { template: { spec: { containers: [] } } } },
    ...answers,
  };
  const kubernetes = {
    request: async ({ path }: { path: string }) =>
      Object.entries(all).find(([plural]) => path.includes(`/${plural}`))?.[1],
  } as unknown as Kubernetes;
  return observeKubernetes(
    {
      client: openObjects(kubernetes),
      scope: { signal },
      copiedLabels: [],
      agentNamespaces: [],
      guardsDrain: true,
      readCertificate: () => Promise.resolve(null),
    },
    'node-1',
  );
};

const malformed: [field: string, answers: Record<string, unknown>][] = [
  [
    'metadata.ownerReferences.0.uid',
    { hypervisors: { ...hypervisor, metadata: { ...metadata, ownerReferences: [{ kind: 'Node' }] } } },
  ],
  ['spec.maintenance', { hypervisors: { ...hypervisor, spec: { maintenance: 'later' } } }],
  [
    'status.conditions.0.lastTransitionTime',
    {
      nodes: { metadata, status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 'yesterday' }] } },
    },
  ],
  ['spec.taints.0.key', { nodes: { metadata, spec: { taints: [{ effect: 'NoExecute' }] } } }],
  ['spec.reason', { evictions: { items: [{ ...eviction, spec: { hypervisor: 'node-1' } }] } }],
  ['metadata.name', { pods: { items: [{ metadata: { namespace: 'n' }, spec: {} }] } }],
  ['spec.minAvailable', { poddisruptionbudgets: { metadata, spec: { minAvailable: true } } }],
  ['spec.template', { deployments: { metadata, spec: {} } }],
];

test.each(malformed)('an object that is malformed in %s is a failure that names it', async (field, answers) => {
  await expect(look(answers)).rejects.toMatchObject({
    type: 'AnswerMalformed',
    message: expect.stringContaining(`: ${field}: `),
  });
});

test('a malformed Eviction of another host is not in the way', async () => {
  expect(
    await look({ evictions: { items: [{ ...eviction, spec: { hypervisor: 'node-2' } }, { spec: null }, null] } }),
  ).toMatchObject({ evictions: [], agentPods: [], drainGuard: null });
});
