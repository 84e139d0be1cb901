import { annotations } from '../../../contracts/ids.ts';
import { mergeObject } from '../../../lab/kubernetes-objects.ts';
import { volumeAnnotations } from '../../../contracts/data-volume/metadata.ts';
import { cutMonday, other, otherClass, withOtherDriver } from './foreign-snapshot.ts';
import { storageNames } from './storage-classes.ts';
import {
  conditionOf,
  elsewhere,
  home,
  inVolumeWorld,
  minute,
  ofSnapshot,
  second,
  type VolumeWorld,
} from './volume-world.ts';

/**
 * Clones of a VolumeSnapshot that another driver has made than that of their class: it is restored by its
 * own, and copied.
 */

/** Beside the source and its snapshot there is the target, or nothing. */
function expectLeft(world: VolumeWorld, targets: string[]): void {
  const { kubernetes } = world.deployment;
  expect(world.driver.volumes.map(({ content }) => content)).toEqual(['newer']);
  expect(world.driver.snapshots).toHaveLength(1);
  expect(world.storage.driver(other).volumes.map(({ content }) => content)).toEqual(targets);
  expect(kubernetes.objects('jobs')).toEqual([]);
}

test.each([
  ['beside it', home, {}],
  ['elsewhere', elsewhere, {}],
  ['of a class that waits for its consumer', home, { volumeBindingMode: 'WaitForFirstConsumer' }],
])('a snapshot of another driver is restored and copied: %s', async (_, namespace, more) => {
  await inVolumeWorld(withOtherDriver({}, more), async (world) => {
    await cutMonday(world, namespace);
    const classes: (string | undefined)[] = [];
    world.deployment.kubernetes.subscribe(({ type, object }) => {
      const { spec } = object as unknown as { spec?: { storageClassName?: string } };
      if (type === 'ADDED' && object.metadata.name.startsWith('tmp-source-pvc-')) classes.push(spec?.storageClassName);
    });
    await world.makeVolume('disk', { source: ofSnapshot('monday', namespace), storageClass: otherClass, size: '3Gi' });
    const { metadata } = await world.made('disk', 5 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(metadata.annotations).toMatchObject({
      [volumeAnnotations.cloneType]: 'copy',
      [volumeAnnotations.cloneFallbackReason]:
        'The storageclass provisioner does not match the volumesnapshotcontent driver',
    });
    expect(world.events('disk').join()).toContain('NoProvisionerMatch: The storageclass provisioner does not match');
    expect(world.phases('disk').slice(0, 3)).toEqual(['', 'CloneFromSnapshotSourceInProgress', 'CloneInProgress']);
    // That of the volume that was cut, and not the first of the driver.
    expect(classes).toEqual([storageNames.classes.fixed]);
    await world.pass(minute);
    expectLeft(world, ['bytes']);
    expect(await world.violations()).toEqual([]);
  });
});

test('without an image nothing is begun', async () => {
  await inVolumeWorld(withOtherDriver({ copyImage: undefined }), async (world) => {
    await cutMonday(world, home);
    await world.makeVolume('disk', { source: ofSnapshot('monday'), storageClass: otherClass });
    const isBlocked = async (): Promise<boolean> =>
      conditionOf(await world.volume('disk'), 'Ready') === 'False CopyNotPossible';
    expect(await world.until(isBlocked, 20 * second)).toBe(true);
    await world.removeVolume('disk');
    expect(await world.until(() => world.isGone('disk'), minute)).toBe(true);
    expectLeft(world, []);
    expect(await world.violations()).toEqual([]);
  });
});

const moments: readonly (readonly [string, (world: VolumeWorld) => void, (world: VolumeWorld) => Promise<boolean>])[] =
  [
    [
      'CloneFromSnapshotSourceInProgress',
      ({ driver }) => driver.delay('CreateVolume', minute),
      async (world) => (await world.volume('disk')).status?.phase === 'CloneFromSnapshotSourceInProgress',
    ],
    [
      'CloneInProgress, while its PVC is made',
      ({ storage }) => storage.driver(other).delay('CreateVolume', minute),
      async (world) => (await world.volume('disk')).status?.phase === 'CloneInProgress',
    ],
    [
      'CloneInProgress, while the Job is at work',
      ({ storage }) => void (storage.jobs.copyMs = 10 * minute),
      async ({ deployment: { kubernetes } }) => kubernetes.objects('jobs').length > 0,
    ],
    [
      'NamespaceTransferInProgress',
      () => undefined,
      async (world) => (await world.volume('disk')).status?.phase === 'NamespaceTransferInProgress',
    ],
  ];

test.each(moments.flatMap(([phase, hold, isSo]) => [home, elsewhere].map((from) => ({ phase, hold, isSo, from }))))(
  'one of a snapshot in $from that is deleted in $phase leaves nothing',
  async ({ phase, hold, isSo, from }) => {
    if (phase === 'NamespaceTransferInProgress' && from === home) return;
    await inVolumeWorld(withOtherDriver(), async (world) => {
      await cutMonday(world, from);
      hold(world);
      await world.makeVolume('disk', { source: ofSnapshot('monday', from), storageClass: otherClass });
      expect(await world.until(() => isSo(world), 5 * minute)).toBe(true);
      await world.pass(2 * second);
      await world.removeVolume('disk');
      expect(await world.until(() => world.isGone('disk'), 10 * minute)).toBe(true);
      await world.pass(2 * minute);
      expectLeft(world, []);
      expect(await world.violations()).toEqual([]);
    });
  },
);

test('a copy that failed is begun anew where a user asks for that, and not by itself', async () => {
  await inVolumeWorld(withOtherDriver(), async (world) => {
    await cutMonday(world, home);
    world.storage.jobs.failures.push('no space', 'still none');
    await world.makeVolume('disk', { source: ofSnapshot('monday'), storageClass: otherClass });
    const isSaid = (words: string) => async (): Promise<boolean> => {
      const { status } = await world.volume('disk');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.reason === 'CopyFailed' && ready.message?.includes(words) === true;
    };
    const retry = (value: string): Promise<void> =>
      mergeObject(world.api, {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'DataVolume',
        metadata: { namespace: home, name: 'disk', annotations: { [annotations.retry]: value } },
      });
    expect(await world.until(isSaid('no space'), 2 * minute)).toBe(true);
    await world.pass(10 * minute);
    expect(world.storage.jobs.failures).toEqual(['still none']);
    await retry('once');
    expect(await world.until(isSaid('still none'), 2 * minute)).toBe(true);
    await world.pass(10 * minute);
    expect(world.storage.jobs.copied).toBe(0);
    await retry('twice');
    await world.made('disk', 5 * minute);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expectLeft(world, ['bytes']);
    expect(await world.violations()).toEqual([]);
  });
});

test('the driver of the snapshot that cannot restore it says so, and the deadline ends it', async () => {
  await inVolumeWorld(withOtherDriver({ deadlineMs: 2 * minute, onDeadline: 'fail' }), async (world) => {
    await cutMonday(world, home);
    world.driver.fail('CreateVolume', { code: 'Internal', times: 10_000, description: 'no space' });
    await world.makeVolume('disk', { source: ofSnapshot('monday'), storageClass: otherClass });
    const isSaid = async (): Promise<boolean> => JSON.stringify(await world.volume('disk')).includes('no space');
    expect(await world.until(isSaid, 20 * second)).toBe(true);
    await world.inPhase('disk', 'Failed', 5 * minute);
    await world.pass(minute);
    expectLeft(world, []);
    expect(await world.violations()).toEqual([]);
  });
});
