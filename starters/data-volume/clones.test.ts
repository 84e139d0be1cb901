import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { Resource } from '../../runtime/kubernetes/objects.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { storageResources } from '../../runtime/kubernetes/storage-resources.ts';
import { createFakeKubernetes } from '../../test/fakes/kubernetes/fake-kubernetes.ts';
import { randomOf } from '../../test/faults/random.ts';
import { paper, sampleContext } from '../../test/fixtures/starters/context.ts';
import { createVirtualClock } from '../../test/simulator/clock.ts';
import { createNetwork } from '../../test/simulator/network.ts';
import { installSnapshots } from '../../test/simulator/volumes/storage.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { main } from '../main.ts';

/** The commands on a kube-apiserver in memory, without Temporal. */

const { signal } = new AbortController();
const startMs = Date.UTC(2026, 0, 31);

interface MadeObject {
  metadata: { namespace: string; name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec: object;
  status?: object;
}

async function open() {
  const random = randomOf(1);
  const clock = createVirtualClock(startMs, random);
  const fake = createFakeKubernetes({ clock, network: createNetwork({ clock, random }), random });
  installSnapshots(fake);
  const { admin } = fake;
  async function put(
    { group, version, kind, plural }: Resource,
    { metadata, spec, status }: MadeObject,
  ): Promise<{ metadata: { uid: string } }> {
    const apiVersion = `${group}/${version}`;
    const { namespace, name } = metadata;
    const path = resourcePath(apiVersion, plural, { namespace });
    const body = { apiVersion, kind, metadata, spec };
    const made = (await admin.request({ method: 'POST', path, body }, signal)) as { metadata: { uid: string } };
    if (status !== undefined)
      await admin.request(
        { method: 'PATCH', path: `${path}/${name}/status`, body: { status }, patchType: 'merge' },
        signal,
      );
    return made;
  }
  for (const name of ['team', 'golden'])
    await admin.request(
      { method: 'POST', path: '/api/v1/namespaces', body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } },
      signal,
    );
  const volume = (name: string, more: { annotations?: Record<string, string>; source?: object; status?: object }) =>
    put(resources.DataVolume, {
      metadata: { namespace: 'team', name, annotations: more.annotations ?? {} },
      spec: {
        source: more.source ?? { pvc: { namespace: 'golden', name: 'image' } },
        storage: { resources: { requests: { storage: '2Gi' } } },
      },
      ...(more.status !== undefined && { status: more.status }),
    });
  const waits = (type: string) => ({
    type,
    status: 'False',
    reason: 'SnapshotFailing',
    message: 'the pool is full',
    lastHeartbeatTime: '2026-01-31T00:00:30Z',
    lastTransitionTime: '2026-01-31T00:00:00Z',
  });
  const { metadata } = await volume('disk', {
    annotations: {
      'cdi.kubevirt.io/cloneType': 'snapshot',
      'drover.dev/clone-source': JSON.stringify({ kind: 'pvc', namespace: 'golden', name: 'image', uid: 's' }),
    },
    status: { phase: 'SnapshotForSmartCloneInProgress', conditions: [waits('Running'), waits('Ready')] },
  });
  await volume('iso', { source: { http: {} } });
  await put(storageResources.VolumeSnapshot, {
    metadata: {
      namespace: 'golden',
      name: 'tmp-snapshot-s-1',
      labels: { 'drover.dev/clone-source-uid': 's' },
      annotations: { [`clone.drover.dev/${metadata.uid}`]: 'team/disk', 'clone.drover.dev/other': 'team/other' },
    },
    spec: { source: { persistentVolumeClaimName: 'image' } },
  });
  await put(storageResources.VolumeSnapshot, {
    metadata: { namespace: 'golden', name: 'of-a-user' },
    spec: { source: { persistentVolumeClaimName: 'image' } },
  });
  const kubernetes: Kubernetes = { ...admin, close: () => Promise.resolve() };
  const now = { ...clock, now: () => startMs + 60_000 };
  return {
    run: async (...args: string[]) => {
      const terminal = paper();
      const context = { ...sampleContext(terminal), clock: now, openKubernetes: () => Promise.resolve(kubernetes) };
      return { code: await main(args, context), stdout: terminal.stdout, stderr: terminal.stderr };
    },
  };
}

test('clones are listed, as lines and as JSON', async () => {
  const { run } = await open();
  const { code, stdout } = await run('clones');
  expect(code).toBe(exitCodes.ok);
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(
      /^team\/disk +SnapshotForSmartCloneInProgress +30s {2}pvc golden\/image {2}snapshot {2}2 GiB {2}SnapshotFailing: the pool is full$/u,
    ),
    expect.stringMatching(/^team\/iso .* left to CDI$/u),
    '',
  ]);
  expect(JSON.parse((await run('clones', 'ls', '-n', 'team', '--json')).stdout)).toEqual([
    expect.objectContaining({ name: 'disk', status: 'waiting', sizeBytes: 2 * 1024 ** 3 }),
    expect.objectContaining({ name: 'iso', status: 'left', source: 'http' }),
  ]);
  expect((await run('clones', '-n', 'elsewhere')).stdout).toBe('There is no DataVolume in elsewhere.\n');
  expect((await run('clones', '--attention')).stdout).toBe('No DataVolume is so.\n');
});

test('one is described without Temporal, with the snapshot that it shares', async () => {
  const { run } = await open();
  const { code, stdout } = await run('describe', 'dv', 'team/disk');
  expect(code).toBe(exitCodes.ok);
  for (const part of [
    'team/disk: SnapshotForSmartCloneInProgress for 30s, SnapshotFailing',
    '  strategy     snapshot',
    '  PVC          none yet',
    'golden/tmp-snapshot-s-1   1m  not cut yet  team/other',
    'Could not be read\nThe run that drives it: ',
    'kubectl describe volumesnapshot -n golden tmp-snapshot-s-1',
  ])
    expect(stdout).toContain(part);
  expect(stdout).not.toContain('of-a-user');
  expect(JSON.parse((await run('describe', 'dv', 'disk', '--json')).stdout)).toMatchObject({
    claim: 'none',
    temporary: [{ kind: 'VolumeSnapshot', sharedWith: ['team/other'] }],
    run: null,
  });
  expect(await run('describe', 'dv', 'team/dusk')).toMatchObject({
    code: exitCodes.notFound,
    stderr: expect.stringMatching(/no DataVolume team\/dusk\.\n.*Did you mean team\/disk/su),
  });
});

test('DataVolumes are stopped as a kind', async () => {
  const { run } = await open();
  expect(await run('stop', '--kind', 'DataVolume', '--reason', 'power work')).toMatchObject({ code: exitCodes.ok });
  expect((await run('describe', 'dv', 'disk')).stdout).toMatch(/ {2}drover stop {2}.*power work/u);
});
