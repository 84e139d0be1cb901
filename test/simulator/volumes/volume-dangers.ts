import { clonePolicy, clonePolicyBinding } from '../../../contracts/data-volume/clone-policy.ts';
import { mergeObject } from '../../../lab/kubernetes-objects.ts';
import { cutMonday, otherClass, withOtherDriver } from './foreign-snapshot.ts';
import { storageNames } from './storage-classes.ts';
import {
  elsewhere,
  home,
  installPolicy,
  inVolumeWorld,
  minute,
  never,
  ofClaim,
  ofSnapshot,
  second,
  type VolumeWorld,
  type VolumeWorldOptions,
} from './volume-world.ts';

/** What may go wrong around clones, and is prevented by what no setting switches off (volume-mutations.ts). */
export interface VolumeDanger {
  name: string;
  options?: () => VolumeWorldOptions;
  /** Returns what is amiss in the end, a sentence each. */
  happen(world: VolumeWorld): Promise<string[]>;
}

const complainWhere = (isWrong: boolean, what: string): string[] => (isWrong ? [what] : []);

/** What a clone that is made within that time has, where that is not this. */
async function holds(world: VolumeWorld, name: string, content: string, withinMs = 10 * minute): Promise<string[]> {
  try {
    await world.made(name, withinMs);
  } catch (error) {
    return [(error as Error).message];
  }
  const found = world.storage.read(home, name);
  return complainWhere(found !== content, `${name} holds ${found} instead of ${content}`);
}

const isMade = async (world: VolumeWorld, name: string): Promise<boolean> =>
  (await world.claim(name))?.status?.phase === 'Bound';

const reasonOf = async (world: VolumeWorld, name: string): Promise<string | undefined> =>
  (await world.volume(name)).status?.conditions?.find(({ type }) => type === 'Running')?.reason;

export const volumeDangers: readonly VolumeDanger[] = [
  {
    name: 'a volume is on its way to another namespace',
    async happen(world) {
      await world.makeSource('golden', 'bytes', {}, elsewhere);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      return await holds(world, 'disk', 'bytes');
    },
  },
  {
    name: 'a volume has come to another namespace',
    async happen(world) {
      await world.makeSource('golden', 'bytes', {}, elsewhere);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      // Less than kube-controller-manager takes to look at everything again.
      return await holds(world, 'disk', 'bytes', 13 * second);
    },
  },
  {
    name: 'a source is written in the second in which it was cut',
    options: () => ({ settings: { sourceIntervalMs: 0 } }),
    async happen(world) {
      await world.makeSource('golden', 'first');
      const { clock } = world.deployment.simulation;
      await world.pass(second - (clock.nowMs % second));
      // It is held up when it is cut, so that others could share its snapshot.
      world.driver.delay('CreateVolume', 20 * second);
      await world.makeVolume('disk', {});
      await world.until(async () => world.driver.snapshots.length > 0, second);
      world.storage.write(home, 'golden', 'second');
      await world.makeVolume('later', {});
      const cutMs = world.driver.snapshots[0]?.cutMs ?? 0;
      const isSame = Math.floor(cutMs / second) === Math.floor(clock.nowMs / second);
      return [
        ...complainWhere(!isSame, 'the second was over'),
        ...(await holds(world, 'later', 'second')),
        ...(await holds(world, 'disk', 'first')),
      ];
    },
  },
  {
    name: 'a claim of the name is a user’s',
    async happen(world) {
      await world.makeSource('golden', 'bytes');
      world.driver.delay('CreateSnapshot', 30 * second);
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'SnapshotForSmartCloneInProgress');
      await world.makeSource('disk', 'mine');
      await world.pass(minute);
      await world.removeVolume('disk');
      await world.pass(minute);
      const claim = await world.claim('disk');
      return [
        ...complainWhere(claim === null, 'the claim of the user is gone'),
        ...complainWhere(claim !== null && world.storage.read(home, 'disk') !== 'mine', 'its bytes are others'),
      ];
    },
  },
  {
    name: 'nothing proves that a clone is permitted',
    options: () => ({ hasPolicy: false }),
    async happen(world) {
      await world.makeSource('golden', 'secret', {}, elsewhere);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      await world.pass(5 * minute);
      return complainWhere(await isMade(world, 'disk'), 'it was cloned');
    },
  },
  {
    name: 'the policy came after the DataVolume',
    options: () => ({ hasPolicy: false }),
    async happen(world) {
      await world.makeSource('golden', 'secret', {}, elsewhere);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      await world.pass(5 * second);
      for (const object of [clonePolicy, clonePolicyBinding]) installPolicy(world.deployment.kubernetes, object);
      await world.pass(30 * minute);
      return complainWhere(await isMade(world, 'disk'), 'it was cloned');
    },
  },
  {
    name: 'a class keeps the snapshots of its users',
    async happen(world) {
      world.deployment.kubernetes.answer({
        method: 'PATCH',
        patchType: 'merge',
        path: `/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses/${storageNames.snapshotClass}`,
        body: { deletionPolicy: 'Retain' },
      });
      await world.makeSource('golden', 'bytes');
      await world.makeVolume('disk', {});
      const found = await holds(world, 'disk', 'bytes');
      await world.pass(minute);
      return [...found, ...complainWhere(world.driver.snapshots.length > 0, 'a snapshot is left at the driver')];
    },
  },
  {
    name: 'a snapshot of another driver is copied',
    options: withOtherDriver,
    async happen(world) {
      await cutMonday(world, home);
      await world.makeVolume('disk', { source: ofSnapshot('monday'), storageClass: otherClass });
      const found = await holds(world, 'disk', 'bytes');
      await world.pass(minute);
      return [...found, ...complainWhere(world.driver.volumes.length > 1, 'what was restored is left at the driver')];
    },
  },
  {
    name: 'a clone of a clone that is not complete',
    options: () => ({ settings: { strategyOverride: 'copy', copyImage: 'drover:test' } }),
    async happen(world) {
      world.storage.jobs.copyMs = 2 * minute;
      await world.makeSource('golden', 'bytes');
      await world.makeVolume('disk', {});
      await world.until(async () => world.deployment.kubernetes.objects('jobs').length > 0, minute);
      await world.pass(second);
      world.storage.jobs.copyMs = second;
      await world.makeVolume('again', { source: ofClaim('disk') });
      return [...(await holds(world, 'disk', 'bytes')), ...(await holds(world, 'again', 'bytes'))];
    },
  },
  {
    name: 'a Pod writes on the source',
    async happen(world) {
      await world.makeSource('golden', 'half');
      await world.use('golden', 'vm');
      await world.makeVolume('disk', {});
      await world.pass(2 * minute);
      world.storage.write(home, 'golden', 'whole');
      await world.endUse('vm');
      return await holds(world, 'disk', 'whole');
    },
  },
  {
    name: 'a source is replaced while its clone waits for room',
    options: () => ({ settings: { snapshotsPerSource: 1 } }),
    async happen(world) {
      await world.makeSource('golden', 'bytes');
      world.driver.delay('DeleteSnapshot', 2 * minute);
      await world.makeVolume('first', {});
      await world.inPhase('first', 'Succeeded');
      await world.makeVolume('disk', {});
      await world.until(async () => (await reasonOf(world, 'disk')) === 'TooManySnapshots', minute);
      await world.pass(10 * second);
      // Else the run would observe the source anew.
      world.deployment.bridge?.kill();
      const path = `/api/v1/namespaces/${home}/persistentvolumeclaims/golden`;
      await world.api.request({ method: 'DELETE', path }, never);
      await world.until(async () => (await world.claim('golden')) === null, minute);
      await world.makeSource('golden', 'others');
      await world.pass(10 * minute);
      return complainWhere(await isMade(world, 'disk'), 'the volume of another PVC was cloned');
    },
  },
  {
    name: 'the driver takes no snapshots',
    options: () => ({ settings: { deadlineMs: minute, onDeadline: 'copy', copyImage: 'drover:test' } }),
    async happen(world) {
      await world.makeSource('golden', 'bytes');
      world.driver.fail('CreateSnapshot', { code: 'Internal', times: 10_000 });
      await world.makeVolume('disk', {});
      return await holds(world, 'disk', 'bytes', 5 * minute);
    },
  },
  {
    name: 'what is temporary goes slowly',
    async happen(world) {
      await world.makeSource('golden', 'bytes');
      world.driver.delay('DeleteSnapshot', 2 * minute);
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'Succeeded');
      await world.removeVolume('disk');
      const isGone = await world.until(() => world.isGone('disk'), 10 * minute);
      return [
        ...complainWhere(!isGone, 'it does not go'),
        ...complainWhere(world.driver.snapshots.length > 0, 'it is gone before its snapshot is'),
      ];
    },
  },
  {
    name: 'a user keeps the PVC of a complete clone',
    async happen(world) {
      await world.makeSource('golden', 'bytes');
      world.driver.delay('DeleteSnapshot', 2 * minute);
      await world.makeVolume('disk', {});
      await world.inPhase('disk', 'Succeeded');
      // As the garbage collector does for `kubectl delete --cascade=orphan`.
      const orphan = { namespace: home, name: 'disk', ownerReferences: null };
      await mergeObject(world.api, { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: orphan });
      await world.removeVolume('disk');
      await world.pass(10 * minute);
      const claim = await world.claim('disk');
      return [
        ...complainWhere(claim === null, 'the PVC is gone'),
        ...complainWhere(claim !== null && world.storage.read(home, 'disk') !== 'bytes', 'its bytes are others'),
        ...complainWhere(world.driver.snapshots.length > 0, 'a snapshot is left at the driver'),
      ];
    },
  },
  {
    name: 'what is temporary in another namespace goes slowly',
    async happen(world) {
      await world.makeSource('golden', 'bytes', {}, elsewhere);
      world.driver.delay('DeleteSnapshot', 2 * minute);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      await world.inPhase('disk', 'Succeeded');
      await world.removeVolume('disk');
      const isGone = await world.until(() => world.isGone('disk'), 10 * minute);
      return complainWhere(!isGone, 'it does not go');
    },
  },
  {
    name: 'a clone is deleted while its volume is made',
    async happen(world) {
      await world.makeSource('golden', 'bytes', {}, elsewhere);
      world.driver.delay('CreateVolume', 20 * second);
      await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
      await world.inPhase('disk', 'SmartClonePVCInProgress');
      await world.pass(5 * second);
      await world.removeVolume('disk');
      await world.until(() => world.isGone('disk'), 10 * minute);
      await world.pass(2 * minute);
      const left = world.driver.volumes.filter(({ content }) => content === 'bytes').length - 1;
      return complainWhere(left > 0, `${left} volumes are left`);
    },
  },
];

/** Runs what may go wrong. @param bundle default: drover's own workflows */
export async function complaintsOf(name: string, bundle?: VolumeWorldOptions['bundle']): Promise<string[]> {
  const danger = volumeDangers.find((one) => one.name === name);
  if (danger === undefined) throw new Error(`there is no danger ${name}`);
  const options = { ...danger.options?.(), ...(bundle !== undefined && { bundle }) };
  return await inVolumeWorld(options, async (world) => {
    const found = await danger.happen(world);
    await world.pass(second);
    return [...found, ...(await world.violations())];
  });
}
