import { clonePolicy, clonePolicyBinding } from '../../contracts/data-volume/clone-policy.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { checkClonePolicy, checkSnapshots, judgeCopyImage, judgeSnapshotClasses } from './data-volumes.ts';
import type { Finding } from './finding.ts';

const { signal } = new AbortController();

/** kube-apiserver that answers these paths, and what it was asked. */
const answering = (answers: Readonly<Record<string, unknown>>): Kubernetes =>
  ({
    request: ({ path }: { path: string }) => {
      const answer = answers[path];
      if (answer instanceof Error) return Promise.reject(answer);
      return answer === undefined
        ? Promise.reject(droverFailure('ObjectNotFound', 'there is none'))
        : Promise.resolve(answer);
    },
  }) as unknown as Kubernetes;

const metadata = (name: string) => ({
  name,
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-31T12:00:00Z',
});
const list = (...items: object[]) => ({ metadata: {}, items });
const snapshots = '/apis/snapshot.storage.k8s.io/v1';
const served = {
  [snapshots]: {
    resources: ['volumesnapshots', 'volumesnapshotclasses', 'volumesnapshotcontents'].map((name) => ({ name })),
  },
};

test('the kinds of snapshots are not served', async () => {
  const kubernetes = answering({ [snapshots]: { resources: [{ name: 'volumesnapshots' }] } });
  expect(await checkSnapshots(kubernetes, 'act', signal)).toEqual([
    {
      check: 'volume snapshots',
      status: 'fail',
      message: expect.stringContaining('VolumeSnapshotClass, VolumeSnapshotContent'),
      advice: expect.stringContaining('external-snapshotter'),
    },
  ]);
  expect(await checkSnapshots(answering({}), 'observe', signal)).toMatchObject([{ status: 'warn' }]);
});

test('a driver of which there are classes has none for snapshots', async () => {
  const kubernetes = answering({
    ...served,
    '/apis/storage.k8s.io/v1/storageclasses': list(
      { metadata: metadata('fast'), provisioner: 'a.csi' },
      { metadata: metadata('slow'), provisioner: 'b.csi' },
      { metadata: metadata('local'), provisioner: 'kubernetes.io/no-provisioner' },
    ),
    '/apis/storage.k8s.io/v1/csidrivers': list({ metadata: metadata('a.csi') }, { metadata: metadata('b.csi') }),
    [`${snapshots}/volumesnapshotclasses`]: list({ metadata: metadata('s'), driver: 'a.csi' }),
  });
  expect(await checkSnapshots(kubernetes, 'act', signal)).toEqual([
    {
      check: 'volume snapshots of b.csi',
      status: 'warn',
      message: expect.stringContaining('volumes of slow are not cloned'),
      advice: expect.any(String),
    },
  ]);
});

test('who may not list classes is told how to', async () => {
  const forbidden = droverFailure('KubernetesForbidden', 'may not');
  const kubernetes = answering({ ...served, '/apis/storage.k8s.io/v1/storageclasses': forbidden });
  expect(await checkSnapshots(kubernetes, 'act', signal)).toMatchObject([
    { status: 'warn', advice: expect.stringContaining('kubectl get storageclasses') },
  ]);
});

const fast = { name: 'fast', provisioner: 'a.csi' };

test.each<[why: string, facts: Parameters<typeof judgeSnapshotClasses>[0], status: Finding['status'], words: string]>([
  ['all have one', { classes: [fast], drivers: ['a.csi'], snapshotDrivers: ['a.csi'] }, 'ok', 'of a.csi'],
  ['no class is of a CSI driver', { classes: [fast], drivers: [], snapshotDrivers: [] }, 'warn', 'no StorageClass'],
])('%s', (_why, facts, status, words) => {
  expect(judgeSnapshotClasses(facts)).toEqual([
    expect.objectContaining({ status, message: expect.stringContaining(words) }),
  ]);
});

const admission = '/apis/admissionregistration.k8s.io/v1';
const name = 'drover-data-volume-source';
const paths = {
  policy: `${admission}/validatingadmissionpolicies/${name}`,
  binding: `${admission}/validatingadmissionpolicybindings/${name}`,
};
const inForce = {
  [paths.policy]: { metadata: metadata(name), spec: clonePolicy.spec },
  [paths.binding]: { metadata: metadata(name), spec: clonePolicyBinding.spec },
};

test.each<
  [why: string, answers: Record<string, unknown>, mode: 'act' | 'observe', status: Finding['status'], words: string]
>([
  ['it is in force', inForce, 'act', 'ok', 'is in force'],
  ['there is none', {}, 'act', 'fail', 'there is no ValidatingAdmissionPolicy drover'],
  [
    'it is not bound',
    { ...inForce, [paths.binding]: undefined },
    'observe',
    'warn',
    'no ValidatingAdmissionPolicyBinding',
  ],
  [
    'it only warns',
    {
      ...inForce,
      [paths.binding]: { metadata: metadata(name), spec: { policyName: name, validationActions: ['Warn'] } },
    },
    'act',
    'fail',
    'another one than drover’s',
  ],
  [
    'it may not be read',
    { [paths.policy]: droverFailure('KubernetesForbidden', 'may not') },
    'act',
    'warn',
    'cannot be seen',
  ],
])('the policy: %s', async (_why, answers, mode, status, words) => {
  expect(await checkClonePolicy(answering(answers), mode, signal)).toMatchObject({
    status,
    message: expect.stringContaining(words),
  });
});

test('volumes that the storage cannot clone are copied by an image that is named', () => {
  expect(judgeCopyImage('drover:1')).toMatchObject({ status: 'ok', message: 'drover:1' });
  for (const none of [null, '']) expect(judgeCopyImage(none)).toMatchObject({ status: 'warn' });
});
