import { observeDataVolume } from '../../../activities/kubernetes/volumes/observe.ts';
import { readDataVolumeInput, readStorageProfileInput } from '../../../activities/lib/input.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { storageResources } from '../../../runtime/kubernetes/storage-resources.ts';
import { listClones } from '../../../starters/data-volume/listed-clone.ts';
import { shownVolumes } from '../../../starters/data-volume/volume-objects.ts';
import { shareClaimWarnings } from '../../../activities/kubernetes/volumes/claim-problem.ts';
import { describeClaim, describeSnapshot } from '../../../starters/data-volume/volume-parts.ts';
import { renderClones, renderVolume } from '../../../starters/render/data-volume.ts';
import { plain } from '../../../starters/render/paint.ts';
import { testClock, testScope } from '../../fixtures/activities/nova.ts';
import { type Edge, isOfLines } from '../edge.ts';
import { near } from '../hostile.ts';

const uid = 'u-1';
const metadata = {
  name: 'disk',
  namespace: 'team',
  uid,
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['drover.dev/data-volume'],
  labels: { app: 'web' },
  annotations: { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true', 'drover.dev/on-deadline': 'copy' },
};
const conditions = [
  { type: 'Bound', status: 'False', reason: 'NotFound', message: 'No PVC found' },
  { type: 'Running', status: 'True', reason: 'Populator is running', message: '' },
  {
    type: 'Ready',
    status: 'False',
    reason: 'SnapshotFailing',
    message: 'the driver says no',
    lastHeartbeatTime: '2026-01-01T00:00:00Z',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  },
];
const claim = {
  accessModes: ['ReadWriteOnce'],
  resources: { requests: { storage: '1Gi' } },
  storageClassName: 'fast',
  volumeMode: 'Filesystem',
};

/** What the observation of a clone asks for, each answered with its own. */
const answers = {
  '/datavolumes/': {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata,
    spec: { source: { pvc: { namespace: 'team', name: 'golden' } }, storage: claim },
    status: { phase: 'CloneScheduled', progress: 'N/A', claimName: 'disk', conditions },
  },
  '/persistentvolumeclaims/': {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      ...metadata,
      ownerReferences: [
        { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name: 'disk', uid, controller: true },
      ],
    },
    spec: {
      ...claim,
      volumeName: 'pv-1',
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'snapshot-1' },
    },
    status: {
      phase: 'Bound',
      capacity: { storage: '1Gi' },
      conditions: [{ type: 'Resizing', status: 'True', reason: '', message: '' }],
    },
  },
  '/persistentvolumes/': {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata,
    spec: {
      capacity: { storage: '1Gi' },
      claimRef: { namespace: 'team', name: 'disk', uid, resourceVersion: '7' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'fast',
      csi: { driver: 'csi.example' },
    },
    status: { phase: 'Bound' },
  },
  '/storageclasses': {
    items: [
      {
        metadata: { ...metadata, name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
        provisioner: 'csi.example',
        parameters: { a: 'b' },
        allowVolumeExpansion: true,
        reclaimPolicy: 'Delete',
        volumeBindingMode: 'WaitForFirstConsumer',
      },
    ],
  },
  '/storageprofiles/': {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'StorageProfile',
    metadata,
    spec: { claimPropertySets: [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Block' }], cloneStrategy: 'csi-clone' },
    status: { storageClass: 'fast', provisioner: 'csi.example', cloneStrategy: 'snapshot' },
  },
  '/volumesnapshotclasses': { items: [{ metadata, driver: 'csi.example', deletionPolicy: 'Delete' }] },
  '/volumesnapshots': {
    items: [
      {
        metadata,
        spec: { source: { persistentVolumeClaimName: 'golden' }, volumeSnapshotClassName: 'c' },
        status: {
          boundVolumeSnapshotContentName: 'content',
          creationTime: '2026-01-01T00:00:00Z',
          readyToUse: false,
          restoreSize: '1Gi',
          error: { message: 'the driver says no' },
        },
      },
    ],
  },
  '/csidrivers/': { metadata },
  '/cdis': {
    items: [
      {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'CDI',
        metadata,
        spec: { cloneStrategyOverride: 'copy' },
      },
    ],
  },
  '/cdiconfigs/': {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'CDIConfig',
    metadata,
    status: { filesystemOverhead: { global: '0.055', storageClass: { fast: '0.1' } } },
  },
  '/objecttransfers/': {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'ObjectTransfer',
    metadata,
    spec: { source: { kind: 'PersistentVolumeClaim', namespace: 'team', name: 'disk' }, target: { namespace: 'dst' } },
    status: { phase: 'Running' },
  },
  '/jobs/': { metadata, spec: {}, status: { conditions: [{ type: 'Failed', status: 'True', message: 'no' }] } },
  '/pods': {
    items: [
      {
        metadata,
        spec: { volumes: [{ persistentVolumeClaim: { claimName: 'golden' } }] },
        status: { phase: 'Running' },
      },
    ],
  },
};
const answering = (given: Readonly<Record<string, unknown>>): Kubernetes =>
  ({
    request: ({ path }: { path: string }) =>
      Promise.resolve(Object.entries(given).find(([part]) => path.includes(part))?.[1] ?? { items: [] }),
  }) as unknown as Kubernetes;

const refused = (): Promise<never> => Promise.reject(new Error('asked'));

/** A DataVolume as a user is shown it: in one line, and whole. */
function shown(answer: unknown): unknown {
  const object = shownVolumes.schema.safeParse(answer).data;
  if (object === undefined) return null;
  const nowMs = Date.parse('2026-02-01T00:00:00Z');
  const { namespace, name } = object;
  const description = { namespace, name, object, run: null, stops: [], problems: [], claim: null };
  return {
    lines: [
      ...renderClones(listClones([object], { attention: false }, nowMs), nowMs, plain, 120),
      ...renderVolume({ ...description, temporary: [], events: [] }, nowMs, plain, 120),
    ],
  };
}

/** Its PVC, or one of its VolumeSnapshots, as a user is shown them. */
function shownPart(answer: unknown): unknown {
  const pvc = storageResources.PersistentVolumeClaim.schema.safeParse(answer).data;
  const snapshot = storageResources.VolumeSnapshot.schema.safeParse(answer).data;
  return [
    pvc === undefined ? null : describeClaim(pvc),
    snapshot === undefined ? null : describeSnapshot(snapshot, uid),
  ];
}

export const volumeEdges: readonly Edge[] = [
  {
    name: 'kube-apiserver: the observation of a DataVolume',
    inputs: near(answers),
    failures: ['AnswerMalformed'],
    read: (given) => {
      const client = openObjects(answering({ ...answers, ...(given as object) }));
      const clock = testClock();
      return observeDataVolume(
        {
          client,
          claimWarnings: shareClaimWarnings({ client, clock }),
          settings: {
            mode: 'act',
            recheckMs: 1,
            lingerMs: 1,
            publishMinMs: 1,
            cluster: '',
            slotRenewMs: 1,
            rules: {
              shareSnapshots: true,
              sourceIntervalMs: 1,
              snapshotsPerSource: 3,
              deadlineMs: 1,
              onDeadline: 'wait',
              crashConsistent: false,
              copyImage: 'drover',
              strategyOverride: null,
              adoptClaims: true,
            },
          },
          namespaces: [],
          filesystemOverhead: { default: 0.06, classes: {} },
          policyDelayMs: 1,
          clonePolicy: { policy: {}, binding: {} },
          acquireSlot: refused,
          releaseSlot: refused,
          signalWithStart: refused,
          stopGate: () => Promise.resolve(),
          audit: { record: () => Promise.resolve() },
          clock,
          scope: testScope({}),
        },
        { namespace: 'team', name: 'disk' },
      );
    },
  },
  {
    name: 'kube-apiserver: a DataVolume that a user asks for',
    inputs: near(answers['/datavolumes/']),
    failures: [],
    read: shown,
    holds: isOfLines,
  },
  {
    name: 'kube-apiserver: a PVC or a VolumeSnapshot of a DataVolume that a user asks for',
    inputs: near(answers['/persistentvolumeclaims/'], answers['/volumesnapshots'].items[0] ?? {}),
    failures: [],
    read: shownPart,
  },
  {
    name: 'users: input of a DataVolume’s run',
    inputs: near({ namespace: 'team', name: 'disk' }),
    failures: ['InvalidInput'],
    read: readDataVolumeInput,
  },
  {
    name: 'users: input of a StorageProfile’s run',
    inputs: near({ name: 'fast' }),
    failures: ['InvalidInput'],
    read: readStorageProfileInput,
  },
];
