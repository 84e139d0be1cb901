import { fallbacks } from '../../contracts/data-volume/choose-strategy.ts';
import { clonePolicyBinding } from '../../contracts/data-volume/clone-policy.ts';
import { clonePolicyName, temporaryNames, volumeAnnotations } from '../../contracts/data-volume/metadata.ts';
import { labClock } from '../../lab/clock.ts';
import { csiClasses, csiSnapshotClasses } from '../../lab/csi/handle.ts';
import { dataVolumeObject, volumeFixture } from '../../lab/data-volumes.ts';
import { run } from '../../lab/kubectl.ts';
import { checkInvariants } from '../invariants.ts';
import { csiStartTimeoutMs } from './csi-world.ts';
import { type DataVolumeWorld, openDataVolumeWorld, policyDelayMs } from './data-volume-world.ts';
import { until } from './until.ts';
import { limitMs } from './world-base.ts';

/**
 * DataVolumes on real parts: bytes go through snapshots and clones of a driver, with upstream's own sidecars
 * and volume controllers.
 */

const { namespace, golden } = volumeFixture;
const cdi = 'cdi.kubevirt.io';
const bytes = 'what the source holds';
const image = 'registry.example.com/drover:test';

let world: DataVolumeWorld;

beforeAll(async () => {
  world = await openDataVolumeWorld({ dataVolumes: { copyImage: image } });
}, csiStartTimeoutMs);
afterEach(async () => {
  if (world === undefined) return;
  try {
    await checkInvariants(world.observed);
  } finally {
    await world.clear();
  }
}, limitMs);
afterAll(() => world?.close(), limitMs);

const ofSource = { pvc: { name: 'source' } };
const mebibytes = (quantity: string | undefined): number => Number(quantity) / 2 ** 20;

test(
  'a clone that is larger than its source: its bytes, and what users see of it',
  async () => {
    await world.makeClaim({ name: 'source' }, bytes);
    await world.clone({ name: 'disk', from: ofSource, size: '96Mi', annotations: { 'example.com/owner': 'team' } });
    await world.untilCloned('disk', bytes);
    await world.write('source', 'something else');
    expect(await world.bytesOf('disk')).toBe(bytes);

    const { metadata, status } = await world.claim('disk');
    // With the share of the file system.
    expect(mebibytes(status?.capacity?.storage)).toBeCloseTo(96 * 1.06, 3);
    expect(metadata.annotations).toMatchObject({
      'example.com/owner': 'team',
      [volumeAnnotations.cloneType]: 'snapshot',
      [volumeAnnotations.cloneOf]: 'true',
    });
    expect(await world.kubectl('get', 'dv', '-n', namespace, '--no-headers')).toMatch(
      /^disk +Succeeded +100\.0% +\d+s/u,
    );
    const volume = await world.dataVolume('disk');
    const conditions = volume?.status?.conditions ?? [];
    expect(conditions.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`).toSorted()).toEqual([
      'Bound True Bound',
      'Ready True ',
      'Running False Completed',
    ]);
    // Those of other volumes of that name stay for an hour.
    const ofVolume = ['--field-selector', `involvedObject.uid=${volume?.metadata.uid}`];
    const events = await world.kubectl('get', 'events', '-n', namespace, ...ofVolume);
    for (const reason of [
      'SnapshotForSmartCloneInProgress',
      'SmartClonePVCInProgress',
      'ExpansionInProgress',
      'CloneSucceeded',
    ])
      expect(events).toMatch(new RegExp(`Normal +${reason} +datavolume/disk `, 'u'));
    expect(events).not.toMatch(/Warning +\S+ +datavolume\/disk /u);

    await world.kubectl('delete', 'dv', 'disk', '-n', namespace);
    await world.untilOnly('source');
  },
  limitMs,
);

test(
  'ten clones at once share a snapshot or two, and the source is as it was',
  async () => {
    await world.makeClaim({ name: 'source', block: true }, bytes);
    await world.control.clearCalls();
    // It is cut when all are there, however busy the machine is.
    await world.control.inject({ method: 'CreateSnapshot', delayMs: 3_000 });
    const names = Array.from({ length: 10 }, (_, index) => `disk-${index}`);
    await Promise.all(names.map((name) => world.apply(dataVolumeObject({ name, from: ofSource, block: true }))));
    for (const name of names) await world.untilCloned(name, bytes);
    expect(await world.control.count('CreateSnapshot')).toBeLessThanOrEqual(2);
    await world.untilOnly('source', ...names);
    expect(await world.bytesOf('source')).toBe(bytes);
  },
  limitMs,
);

test(
  'a clone by the driver itself, as the StorageProfile of the class says',
  async () => {
    const patch = (cloneStrategy: string | null) =>
      world.kubectl(
        'patch',
        'storageprofile',
        csiClasses.default,
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { cloneStrategy } }),
      );
    await world.makeClaim({ name: 'source' }, bytes);
    await patch('csi-clone');
    try {
      await until('the StorageProfile to say so', 20_000, async () => {
        const said = await world.kubectl(
          'get',
          'storageprofile',
          csiClasses.default,
          '-o',
          'jsonpath={.status.cloneStrategy}',
        );
        return said === 'csi-clone' || said;
      });
      await world.control.clearCalls();
      await world.clone({ name: 'disk', from: ofSource });
      await world.untilCloned('disk', bytes);
    } finally {
      await patch(null);
    }
    expect(await world.control.count('CreateSnapshot')).toBe(0);
    expect((await world.claim('disk')).metadata.annotations).toMatchObject({
      [volumeAnnotations.cloneType]: 'csi-clone',
    });
  },
  limitMs,
);

test(
  'from a snapshot of a user, which stays; through a DataSource; and empty',
  async () => {
    await world.makeClaim({ name: 'source' }, bytes);
    await world.apply({
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { namespace, name: 'kept' },
      spec: {
        volumeSnapshotClassName: csiSnapshotClasses.directories,
        source: { persistentVolumeClaimName: 'source' },
      },
    });
    await world.clone({ name: 'early', from: { snapshot: { name: 'kept' } }, size: null });
    await world.untilPhase('early', 'Succeeded');
    await world.write('source', 'something else');
    await world.clone({ name: 'late', from: { snapshot: { name: 'kept' } }, size: '96Mi' });
    await world.apply({
      apiVersion: `${cdi}/v1beta1`,
      kind: 'DataSource',
      metadata: { namespace, name: 'current' },
      spec: { source: { pvc: { namespace, name: 'source' } } },
    });
    await world.clone({ name: 'referred', from: { dataSource: { name: 'current' } } });
    await world.clone({ name: 'empty', from: 'blank' });
    for (const name of ['late', 'referred', 'empty']) await world.untilPhase(name, 'Succeeded');
    const held = await Promise.all(['early', 'late', 'referred'].map((name) => world.bytesOf(name)));
    expect(held).toEqual([bytes, bytes, 'something else']);
    expect(await world.kubectl('get', 'volumesnapshot', '-n', namespace, '-o', 'name')).toMatch(/^\S+\/kept\n$/u);
  },
  limitMs,
);

let users = 0;

test(
  'from another namespace, by who may: the volume comes over, and the record of its way goes',
  async () => {
    // What she may do stays: another attempt is another user.
    const user = `alice-${(users += 1)}`;
    await world.makeClaim({ namespace: golden, name: 'image' }, bytes);
    await world.kubectl('create', 'rolebinding', user, '-n', namespace, '--clusterrole=admin', `--user=${user}`);
    const volumes = `datavolumes.${cdi}`;
    await world.kubectl('create', 'role', user, '-n', namespace, '--verb=get,create,patch', `--resource=${volumes}`);
    await world.kubectl(
      'create',
      'rolebinding',
      `${user}-volumes`,
      '-n',
      namespace,
      `--role=${user}`,
      `--user=${user}`,
    );
    const wish = { name: 'disk', from: { pvc: { namespace: golden, name: 'image' } }, size: '96Mi' } as const;
    // kube-apiserver takes a role into account a moment after it is there, and refuses her without it until then.
    await until('her to be refused by the rule', 10_000, async () => {
      const said = await world.clone(wish, user).then(() => 'nothing', String);
      return said.includes(`User ${user} has insufficient permissions in clone source namespace golden`) || said;
    });
    await world.kubectl('create', 'role', user, '-n', golden, '--verb=create', `--resource=${volumes}/source`);
    await world.kubectl('create', 'rolebinding', user, '-n', golden, `--role=${user}`, `--user=${user}`);
    await until('she to be allowed', 10_000, async () => {
      await world.clone(wish, user);
      return true;
    });
    await world.untilCloned('disk', bytes);
    expect((await world.volumeOf('disk')).spec.persistentVolumeReclaimPolicy).toBe('Delete');
    await world.untilOnly('disk', `${golden}/image`);

    const forged = ['--overwrite', `${volumeAnnotations.cloneSource}={}`];
    await expect(world.kubectl('annotate', 'dv', 'disk', '-n', namespace, '--as', user, ...forged)).rejects.toThrow(
      /can only be written by users with the verb protect/u,
    );
    await world.kubectl('delete', 'dv', 'disk', '-n', namespace);
    await world.untilOnly(`${golden}/image`);
    expect(await world.bytesOf({ namespace: golden, name: 'image' })).toBe(bytes);
  },
  limitMs,
);

test(
  'what was not permitted is not cloned: a DataVolume of a time without the rules',
  async () => {
    const wish = { name: 'disk', from: { pvc: { namespace: golden, name: 'image' } } } as const;
    await world.makeClaim({ namespace: golden, name: 'image' }, bytes);
    await world.kubectl('delete', 'validatingadmissionpolicybinding', clonePolicyName);
    try {
      await world.clone(wish);
      await world.untilSaid('disk', 'Ready', /^False CloneNotPermitted: .*Create the DataVolume again/u);
    } finally {
      await world.apply(clonePolicyBinding);
    }
    await world.untilOnly(`${golden}/image`);
    await world.kubectl('delete', 'dv', 'disk', '-n', namespace);
    // Times in Kubernetes are whole seconds.
    await labClock().sleep(policyDelayMs + 2_000);
    await world.clone(wish);
    await world.untilCloned('disk', bytes);
  },
  limitMs,
);

test(
  'a volume that would have to grow and cannot: a Job copies it',
  async () => {
    await world.makeClaim({ name: 'source' }, bytes);
    await world.clone({ name: 'disk', from: ofSource, size: '96Mi', storageClass: csiClasses.fixed });
    const { metadata } = await world.untilPhase('disk', 'CloneInProgress');
    expect(metadata.annotations).toMatchObject({
      [volumeAnnotations.cloneType]: 'copy',
      [volumeAnnotations.cloneFallbackReason]: fallbacks.NoVolumeExpansion,
    });
    const job = temporaryNames.job(metadata.uid);
    const found = await until('the Job to be there', 20_000, async () =>
      JSON.parse(await world.kubectl('get', 'job', job, '-n', namespace, '-o', 'json')),
    );
    expect(found).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [{ image, args: ['copy-volume', '/source', '/target'] }],
            volumes: [
              { name: 'source', persistentVolumeClaim: { claimName: 'source', readOnly: true } },
              { name: 'target', persistentVolumeClaim: { claimName: 'disk' } },
            ],
          },
        },
      },
    });
    // No kubelet is there: the test is the Pod, and the controller of Jobs.
    await world.write('disk', bytes);
    const now = `${new Date(labClock().now()).toISOString().slice(0, 19)}Z`;
    const conditions = ['SuccessCriteriaMet', 'Complete'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: now,
    }));
    const status = { startTime: now, completionTime: now, succeeded: 1, conditions };
    await world.kubectl(
      'patch',
      'job',
      job,
      '-n',
      namespace,
      '--subresource=status',
      '--type=merge',
      '-p',
      JSON.stringify({ status }),
    );
    await world.untilCloned('disk', bytes);
    expect(await world.kubectl('get', 'jobs', '-n', namespace, '-o', 'name')).toBe('');
  },
  limitMs,
);

test(
  'a snapshot that fails is said within seconds, and goes on by itself',
  async () => {
    await world.makeClaim({ name: 'source' }, bytes);
    await world.control.inject({ method: 'CreateSnapshot', code: 'Internal', message: 'no space left', count: 1_000 });
    await world.clone({ name: 'disk', from: ofSource });
    await world.untilSaid('disk', 'Ready', /^False SnapshotFailing: .*no space left/u);
    expect(await world.kubectl('get', 'events', '-n', namespace)).toMatch(
      /Warning +SnapshotFailing +datavolume\/disk .*no space left/u,
    );
    await world.control.clearFaults();
    await world.untilCloned('disk', bytes);
  },
  limitMs,
);

test(
  'a quota that is used up is said; once it is raised the clone goes on',
  async () => {
    const quota = (storage: string) =>
      world.apply({
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { namespace, name: 'storage' },
        spec: { hard: { 'requests.storage': storage } },
      });
    await world.makeClaim({ name: 'source' }, bytes);
    await quota('100Mi');
    await until('the quota to be counted', 20_000, async () => {
      const used = await world.kubectl(
        'get',
        'resourcequota',
        'storage',
        '-n',
        namespace,
        '-o',
        'jsonpath={.status.used}',
      );
      return used.includes('64Mi') || used;
    });
    await world.clone({ name: 'disk', from: ofSource });
    await world.untilSaid('disk', 'Ready', /^False ErrExceededQuota: .*exceeded quota: storage/u);
    await quota('1Gi');
    await world.untilCloned('disk', bytes);
  },
  limitMs,
);

test(
  'a source in use waits for its Pod to end, unless it may be cloned as after a loss of power',
  async () => {
    await world.makeClaim({ name: 'source' }, bytes);
    await world.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace, name: 'guest' },
      spec: {
        containers: [{ name: 'guest', image }],
        volumes: [{ name: 'disk', persistentVolumeClaim: { claimName: 'source' } }],
      },
    });
    await world.clone({ name: 'disk', from: ofSource });
    await world.untilSaid(
      'disk',
      'Ready',
      /^False CloneSourceInUse: pod vms\/guest using PersistentVolumeClaim source/u,
    );
    const crashConsistent = { [volumeAnnotations.crashConsistent]: 'true' };
    await world.clone({ name: 'at-once', from: ofSource, annotations: crashConsistent });
    await world.untilCloned('at-once', bytes);
    await world.kubectl('delete', 'pod', 'guest', '-n', namespace, '--force', '--grace-period=0');
    await world.untilCloned('disk', bytes);
  },
  limitMs,
);

test.each([
  ['the snapshot is taken', 'CreateSnapshot', namespace],
  ['the volume is made', 'CreateVolume', namespace],
  ['the volume is made elsewhere', 'CreateVolume', golden],
  ['the volume is expanded elsewhere', 'ControllerExpandVolume', golden],
] as const)(
  'deleted while %s: nothing is left',
  async (_when, method, from) => {
    await world.makeClaim({ namespace: from, name: 'source' }, bytes);
    await world.control.inject({ method, delayMs: 3_000 });
    await world.clone({ name: 'disk', from: { pvc: { namespace: from, name: 'source' } }, size: '96Mi' });
    await until(
      `${method} to be under way`,
      20_000,
      async () => (await world.control.running(method)) > 0 || 'not yet',
    );
    await world.kubectl('delete', 'dv', 'disk', '-n', namespace, '--timeout=60s');
    await world.untilNothingTemporary();
    await world.untilOnly(from === namespace ? 'source' : `${golden}/source`);
  },
  limitMs,
);

test(
  'a worker that is killed in mid-clone: one volume, and no more',
  async () => {
    await world.makeClaim({ name: 'source' }, bytes);
    await world.makeClaim({ namespace: golden, name: 'image' }, bytes);
    // On a busy machine the second one comes seconds after the first.
    await world.control.inject({ method: 'CreateVolume', delayMs: 10_000, count: 2 });
    await world.clone({ name: 'disk', from: ofSource });
    await world.clone({ name: 'other', from: { pvc: { namespace: golden, name: 'image' } } });
    await until(
      'both to be under way',
      20_000,
      async () => (await world.control.running('CreateVolume')) === 2 || 'not yet',
    );
    await world.drover.kill('worker');
    await world.drover.restart('worker');
    for (const name of ['disk', 'other']) await world.untilCloned(name, bytes);
    await world.untilOnly('source', 'disk', 'other', `${golden}/image`);
  },
  limitMs,
);

const worker = 'drover-worker';
const bridge = 'drover-bridge';

test('what the service accounts may do with volumes', async () => {
  const snapshots = 'volumesnapshots.snapshot.storage.k8s.io';
  const asked = [
    [worker, 'yes', 'create', 'persistentvolumeclaims'],
    [worker, 'yes', 'delete', snapshots],
    [worker, 'yes', 'patch', 'persistentvolumes'],
    [worker, 'yes', 'protect', `datavolumes.${cdi}`],
    [worker, 'no', 'delete', 'persistentvolumes'],
    [worker, 'no', 'create', `datavolumes.${cdi}`],
    [worker, 'no', 'delete', `datavolumes.${cdi}`],
    [worker, 'no', 'create', 'pods'],
    [worker, 'no', 'patch', 'validatingadmissionpolicies'],
    [bridge, 'yes', 'watch', `datavolumes.${cdi}`],
    [bridge, 'no', 'patch', `datavolumes.${cdi}`],
    [bridge, 'no', 'delete', 'persistentvolumeclaims'],
    [bridge, 'no', 'delete', snapshots],
  ] as const;
  const { kubernetes } = world.lab.handles;
  const answers = asked.map(async ([account, , verb, what]) => {
    const user = `system:serviceaccount:drover-system:${account}`;
    const args = ['auth', 'can-i', '--as', user, verb, what, '-n', namespace];
    const { stdout } = await run(kubernetes.kubectl, args, { env: { KUBECONFIG: kubernetes.kubeconfig } });
    return [account, stdout.trim(), verb, what];
  });
  expect(await Promise.all(answers)).toEqual(asked);
});
