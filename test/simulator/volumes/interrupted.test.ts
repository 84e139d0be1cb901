import { dataVolumeId } from '../../../contracts/ids.ts';
import { elsewhere, home, inVolumeWorld, minute, never, ofClaim, second } from './volume-world.ts';
import type { ReadVolumeObject } from '../../invariants/read-volumes.ts';

/** A user deletes the PVC of a DataVolume that stays, or its run. */

type Moment = (change: { type: string; object: ReadVolumeObject }) => boolean;

const isClaim = ({ kind, metadata }: ReadVolumeObject): boolean =>
  kind === 'PersistentVolumeClaim' && metadata.namespace === home && metadata.name === 'disk';

const moments: [when: string, from: string, moment: Moment][] = [
  ['when it is made', home, ({ type, object }) => type === 'ADDED' && isClaim(object)],
  ['when it is bound', home, ({ object }) => isClaim(object) && object.status?.phase === 'Bound'],
  ['when the volume comes to it', elsewhere, ({ type, object }) => type === 'ADDED' && isClaim(object)],
  ['when the volume has come to it', elsewhere, ({ object }) => isClaim(object) && object.status?.phase === 'Bound'],
  [
    'when the transfer is complete',
    elsewhere,
    ({ object }) => object.kind === 'ObjectTransfer' && object.status?.phase === 'Complete',
  ],
  [
    'when it has succeeded',
    elsewhere,
    ({ object }) => object.kind === 'DataVolume' && object.status?.phase === 'Succeeded',
  ],
];

test.each(moments)('a PVC that is deleted %s (source in %s) is made anew', async (_when, from, moment) => {
  await inVolumeWorld({}, async (world) => {
    const { kubernetes } = world.deployment;
    let isDone = false;
    kubernetes.subscribe(({ type, object }) => {
      const change = { type, object: object as unknown as ReadVolumeObject };
      if (isDone || !moment(change)) return;
      isDone = true;
      const path = `/api/v1/namespaces/${home}/persistentvolumeclaims/disk`;
      void world.api.request({ method: 'DELETE', path }, never);
    });
    await world.makeSource('golden', 'bytes', {}, from);
    await world.makeVolume('disk', { source: ofClaim('golden', from), size: '2Gi' });
    const isMade = await world.until(async () => {
      const claim = await world.claim('disk');
      const volume = await world.volume('disk');
      return (
        isDone &&
        claim?.status?.phase === 'Bound' &&
        claim.metadata.deletionTimestamp === undefined &&
        volume.status?.phase === 'Succeeded'
      );
    }, 5 * minute);
    if (!isMade) throw new Error(JSON.stringify([isDone, (await world.volume('disk')).status]));
    await world.made('disk', minute);
    await world.pass(30 * second);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(world.driver.volumes).toHaveLength(2);
    expect(await world.violations()).toEqual([]);
  });
});

const ofJob: [when: string, from: string, moment: Moment][] = [home, elsewhere].flatMap((from) => [
  ['while a Job copies into it', from, ({ type, object }) => type === 'ADDED' && object.kind === 'Pod'],
  [
    'when a Job has copied into it',
    from,
    ({ object }) => object.kind === 'Pod' && object.status?.phase === 'Succeeded',
  ],
]);

test.each(ofJob)('a PVC that is deleted %s (source in %s) is copied anew', async (_when, from, moment) => {
  await inVolumeWorld({ settings: { strategyOverride: 'copy', copyImage: 'drover:test' } }, async (world) => {
    const { kubernetes } = world.deployment;
    let isDone = false;
    kubernetes.subscribe(({ type, object }) => {
      if (isDone || !moment({ type, object })) return;
      isDone = true;
      const { spec } = object as unknown as { spec: { volumes: { persistentVolumeClaim: { claimName: string } }[] } };
      const name = spec.volumes[1]?.persistentVolumeClaim.claimName ?? '';
      const path = `/api/v1/namespaces/${from}/persistentvolumeclaims/${name}`;
      void world.api.request({ method: 'DELETE', path }, never);
    });
    await world.makeSource('golden', 'bytes', {}, from);
    await world.makeVolume('disk', { source: ofClaim('golden', from) });
    await world.made('disk', 5 * minute);
    expect(isDone).toBe(true);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await world.pass(30 * second);
    expect(world.driver.volumes).toHaveLength(2);
    expect(await world.violations()).toEqual([]);
  });
});

test('a PVC that is deleted when its copy has succeeded is copied anew, however seldom its status is published', async () => {
  const settings = { strategyOverride: 'copy', copyImage: 'drover:test', publishMinMs: 20 * second };
  await inVolumeWorld({ settings }, async (world) => {
    const { kubernetes } = world.deployment;
    let isDone = false;
    kubernetes.subscribe(({ object }) => {
      const { kind, status } = object as unknown as ReadVolumeObject;
      if (isDone || kind !== 'DataVolume' || status?.phase !== 'Succeeded') return;
      isDone = true;
      const path = `/api/v1/namespaces/${home}/persistentvolumeclaims/disk`;
      void world.api.request({ method: 'DELETE', path }, never);
    });
    await world.makeSource('golden', 'bytes');
    await world.makeVolume('disk', {});
    await world.until(async () => isDone && (await world.claim('disk')) === null, 5 * minute);
    await world.until(async () => (await world.claim('disk'))?.status?.phase === 'Bound', 5 * minute);
    await world.made('disk', 5 * minute);
    await world.pass(30 * second);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    expect(await world.violations()).toEqual([]);
  });
});

test('a run that is terminated while the volume is on its way: the next one brings it', async () => {
  await inVolumeWorld({}, async (world) => {
    const { kubernetes, simulation } = world.deployment;
    let isDone = false;
    kubernetes.subscribe(({ type, object }) => {
      const isTemporary = object.kind === 'PersistentVolumeClaim' && object.metadata.name.startsWith('cdi-tmp-');
      if (isDone || !isTemporary || type !== 'DELETED') return;
      isDone = true;
      void simulation.client.workflow.getHandle(dataVolumeId(home, 'disk')).terminate('a user');
    });
    await world.makeSource('golden', 'bytes', {}, elsewhere);
    await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
    await world.made('disk', 5 * minute);
    expect(isDone).toBe(true);
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await world.pass(30 * second);
    expect(await world.violations()).toEqual([]);
  });
});

test('a volume that arrives while drover is cut off for longer than its deadline is not given up', async () => {
  await inVolumeWorld({ settings: { deadlineMs: 2 * minute, onDeadline: 'fail' } }, async (world) => {
    const { kubernetes, simulation } = world.deployment;
    let isDone = false;
    kubernetes.subscribe(({ object }) => {
      const isAtTarget =
        object.kind === 'PersistentVolume' &&
        (object as unknown as { spec: { claimRef?: { namespace?: string } } }).spec.claimRef?.namespace === home;
      if (isDone || !isAtTarget) return;
      isDone = true;
      simulation.network.setAway('kubernetes', true);
    });
    await world.makeSource('golden', 'bytes', {}, elsewhere);
    await world.makeVolume('disk', { source: ofClaim('golden', elsewhere) });
    expect(await world.until(async () => isDone, minute)).toBe(true);
    await world.pass(10 * minute);
    simulation.network.setAway('kubernetes', false);
    const isBound = async (): Promise<boolean> => (await world.claim('disk'))?.status?.phase === 'Bound';
    expect(await world.until(isBound, 5 * minute)).toBe(true);
    await world.use('disk', 'vm');
    await world.made('disk', 20 * minute);
    expect(world.phases('disk')).not.toContain('Failed');
    expect(world.storage.read(home, 'disk')).toBe('bytes');
    await world.pass(30 * second);
    expect(await world.violations()).toEqual([]);
  });
});
