import { csiClasses } from '../../lab/csi/handle.ts';
import { volumeFixture } from '../../lab/data-volumes.ts';
import { checkInvariants } from '../invariants.ts';
import { canRunCeph, csiStartTimeoutMs } from './csi-world.ts';
import { type DataVolumeWorld, openDataVolumeWorld } from './data-volume-world.ts';
import { limitMs } from './world-base.ts';

/** Clones in the lab's Ceph: images of the second version, which the driver flattens. */

const { golden } = volumeFixture;
const storageClass = csiClasses.rbd;
const bytes = 'what the source holds';
const onCeph = canRunCeph ? test : test.skip;

let world: DataVolumeWorld | undefined;

const opened = (): DataVolumeWorld => {
  if (world === undefined) throw new Error('the lab has no Ceph');
  return world;
};

beforeAll(async () => {
  if (canRunCeph) world = await openDataVolumeWorld({ withCeph: true });
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

onCeph(
  'a clone that is larger than its source, and a clone of that',
  async () => {
    const ceph = opened();
    await ceph.makeClaim({ name: 'source', storageClass, block: true }, bytes);
    await ceph.clone({ name: 'disk', from: { pvc: { name: 'source' } }, size: '96Mi', storageClass, block: true });
    await ceph.untilCloned('disk', bytes);
    await ceph.clone({ name: 'again', from: { pvc: { name: 'disk' } }, size: null, storageClass, block: true });
    await ceph.untilCloned('again', bytes);
    await ceph.write('source', 'something else');
    expect(await ceph.bytesOf('disk')).toBe(bytes);
  },
  limitMs,
);

onCeph(
  'from another namespace: the image comes over',
  async () => {
    const ceph = opened();
    await ceph.makeClaim({ namespace: golden, name: 'image', storageClass, block: true }, bytes);
    await ceph.clone({
      name: 'disk',
      from: { pvc: { namespace: golden, name: 'image' } },
      size: '96Mi',
      storageClass,
      block: true,
    });
    await ceph.untilCloned('disk', bytes);
    expect((await ceph.volumeOf('disk')).spec.persistentVolumeReclaimPolicy).toBe('Delete');
  },
  limitMs,
);
