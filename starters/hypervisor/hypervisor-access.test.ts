import { tableError } from '../command/error.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { configSchema } from '../../runtime/config/config-schema.ts';
import type { Kubernetes, KubernetesRequest } from '../../runtime/kubernetes/kubernetes.ts';
import { hypervisorAccess } from './hypervisor-access.ts';
import { accessBy } from '../command/kubernetes-access.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';

const metadata = {
  name: 'node-1',
  uid: 'u',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-31T10:00:00Z',
};
const hypervisor = {
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata,
  spec: {},
  status: { numInstances: 0 },
};
const abort = new AbortController().signal;

/** kube-apiserver that answers the one thing, or these items, and what it was asked. */
function answering(answer: unknown, items: unknown[] = []) {
  const asked: KubernetesRequest[] = [];
  const request = async (one: KubernetesRequest): Promise<unknown> => {
    asked.push(one);
    if (answer instanceof Error) throw answer;
    return one.query?.['limit'] === undefined ? answer : { items };
  };
  const kubernetes = { request } as unknown as Kubernetes;
  return {
    asked,
    access: hypervisorAccess(accessBy(() => Promise.resolve(kubernetes), configSchema.parse({}), abort)),
  };
}

test('a change is written on the version that was read, and nothing else with it', async () => {
  const { asked, access } = answering(hypervisor);
  await access.patch(
    { name: 'node-1', resourceVersion: '7' },
    { spec: { maintenance: '', maintenanceReason: null }, annotations: { a: null } },
  );
  expect(asked).toEqual([
    {
      method: 'PATCH',
      path: '/apis/kvm.cloud.sap/v1/hypervisors/node-1',
      patchType: 'merge',
      query: { fieldManager: 'drover' },
      body: {
        metadata: { resourceVersion: '7', annotations: { a: null } },
        spec: { maintenance: '', maintenanceReason: null },
      },
    },
  ]);
});

test('the label of a Node, too', async () => {
  const { asked, access } = answering({ metadata });
  await access.labelNode({ name: 'node-1', resourceVersion: '5' }, 'skip-tests');
  expect(asked).toEqual([
    expect.objectContaining({
      path: '/api/v1/nodes/node-1',
      body: {
        metadata: { resourceVersion: '5', labels: { 'cobaltcore.cloud.sap/node-hypervisor-lifecycle': 'skip-tests' } },
      },
    }),
  ]);
});

test('what is not there, and what is not as it should be', async () => {
  const gone = answering(droverFailure('ObjectNotFound', 'no such object'));
  await expect(gone.access.read('node-1')).resolves.toBeNull();
  await expect(gone.access.readNode('node-1')).resolves.toBeNull();
  await expect(answering({ kind: 'Status' }).access.read('node-1')).rejects.toMatchObject({
    exitCode: 5,
    message: expect.stringMatching(/not as its schema says/u),
  });
  await expect(answering(droverFailure('KubernetesForbidden', 'may not')).access.read('node-1')).rejects.toThrow(
    'may not',
  );
  const { hypervisors, unreadable } = await answering(null, [
    hypervisor,
    { metadata: { name: 'odd' } },
    null,
  ]).access.list();
  expect([hypervisors.map(({ name }) => name), unreadable]).toEqual([['node-1'], ['odd', 'one without a name']]);
});

test('after a conflict it is read and decided once more, a few times', async () => {
  const conflict = droverFailure('ObjectConflict', 'changed');
  let attempts = 0;
  const failing = (times: number, error: Error) => () =>
    (attempts += 1) > times ? Promise.resolve(attempts) : Promise.reject(error);
  await expect(retryConflicts(failing(2, conflict))).resolves.toBe(3);
  attempts = 0;
  await expect(retryConflicts(failing(9, conflict))).rejects.toThrow('changed');
  expect(attempts).toBe(5);
  attempts = 0;
  await expect(retryConflicts(failing(9, tableError('ObjectRefused', 'no')))).rejects.toThrow('no');
  expect(attempts).toBe(1);
});
