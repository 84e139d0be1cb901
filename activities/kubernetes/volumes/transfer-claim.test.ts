import * as fc from 'fast-check';

import type { DataVolumeActivities } from '../../../contracts/data-volume/data-volume.ts';
import { temporaryNames, volumeLabels } from '../../../contracts/data-volume/metadata.ts';
import type { CallFate } from '../../../test/simulator/network.ts';
import { claimSpec, openVolumes, status } from '../../../test/fixtures/activities/volumes.ts';

/** A volume on its way from `src` to `dst`, whatever happens to those that carry it. */

type World = ReturnType<typeof openVolumes>;

/** What becomes of a call, by its number since the way began; it may kill the worker that calls. */
type Fates = (call: number, kill: () => void) => CallFate;

interface Way {
  world: World;
  of: { namespace: string; name: string; uid: string };
  /** PVs that were gone, or free for any claim, while they held the data. */
  lost: string[];
  volume: string;
  from: { namespace: string; name: string };
  carry: (worker?: DataVolumeActivities) => ReturnType<DataVolumeActivities['transferClaim']>;
  setFates: (fates: Fates, kill?: () => void) => void;
}

const metadata = { finalizers: ['cdi.kubevirt.io/dataVolumeFinalizer'] };

async function onTheWay(seed: number, body: (way: Way) => Promise<void>): Promise<void> {
  let fates: Fates = () => 'works';
  let kill: () => void = () => undefined;
  let began = 0;
  let calls = 0;
  const world = openVolumes({
    seed,
    onCall: ({ number }) => {
      calls = number - began;
      return fates(calls, kill);
    },
  });
  await world.run(async () => {
    await world.makeVolume('dst', 'copy', {}, metadata);
    const of = world.ofVolume('dst', 'copy');
    const begin = { claimed: world.begin('csi-clone').claimed, status: status() };
    const { claim } = await world.activities.ensureClaim({
      ...of,
      begin,
      temporaryIn: 'src',
      from: { kind: 'pvc', ...world.goldenSource() },
      spec: claimSpec,
      cloneDepth: 1,
      patienceMs: 60_000,
      known: null,
    });
    const volume = claim?.volume ?? '';
    const lost: string[] = [];
    world.kubernetes.subscribe(({ type, resource, object }) => {
      if (resource.kind === 'PersistentVolume' && object.metadata.name === volume && type === 'DELETED')
        lost.push(`${object.metadata.name} is deleted`);
    });
    const from = { namespace: 'src', name: temporaryNames.claim(of.uid) };
    began = world.network.calls.length;
    await body({
      world,
      of,
      lost,
      volume,
      from,
      carry: (worker = world.activities) =>
        worker.transferClaim({ ...of, begin: null, from, patienceMs: 60_000, known: null }),
      setFates: (next, toKill = () => undefined) => {
        fates = next;
        kill = toKill;
        began = world.network.calls.length;
      },
    });
  });
}

const works: Fates = () => 'works';

/** It is where it belongs, as it was. */
async function expectThere({ world, volume, lost, from, of }: Way): Promise<void> {
  expect(lost).toEqual([]);
  expect(world.kubernetes.object('persistentvolumes', { name: volume })).toMatchObject({
    spec: {
      persistentVolumeReclaimPolicy: 'Delete',
      claimRef: { namespace: 'dst', name: 'copy', uid: world.claim('dst', 'copy')?.metadata.uid },
    },
  });
  expect(world.claim('dst', 'copy')).toMatchObject({
    spec: { volumeName: volume },
    status: { phase: 'Bound' },
    metadata: { ownerReferences: [{ uid: of.uid }] },
  });
  expect(world.claim(from.namespace, from.name)).toBeNull();
  expect(world.storage.read('dst', 'copy')).toBe('bytes');
  const done = await world.activities.completeDataVolume({
    ...of,
    begin: null,
    status: status({ phase: 'Succeeded' }),
  });
  expect(done.left).toEqual([]);
  expect(world.all('objecttransfers')).toEqual([]);
  expect(world.isHeld('dst', 'copy')).toBe(false);
  expect(world.storage.read('dst', 'copy')).toBe('bytes');
}

/**
 * A worker dies in the middle of that call: its effect happens, after the worker that carries on has begun, or
 * it does not.
 */
async function dieAt({ world, carry, setFates }: Way, cut: number, effect: boolean): Promise<boolean> {
  const worker = new AbortController();
  setFates(
    (call, kill) => {
      if (call !== cut) return 'works';
      kill();
      return effect ? 'works' : 'failBefore';
    },
    () => worker.abort(new Error('killed')),
  );
  const result = await carry(world.worker(worker.signal)).then(
    () => false,
    () => true,
  );
  setFates(works);
  return result;
}

test('a volume comes to its DataVolume; what is done is recorded, and can be done again', () =>
  onTheWay(1, async (way) => {
    const { carry, world, of } = way;
    expect(await carry()).toMatchObject({
      claim: { namespace: 'dst', phase: 'Bound', owner: 'volume', cloneDepth: 1 },
      transfer: { phase: 'Complete', message: 'Transfer complete' },
    });
    expect(world.all('objecttransfers')).toMatchObject([
      {
        metadata: { name: temporaryNames.transfer(of.uid), labels: { [volumeLabels.temporaryFor]: of.uid } },
        status: { phase: 'Complete', data: { reclaimPolicy: 'Delete' } },
      },
    ]);
    expect((await carry()).transfer?.phase).toBe('Complete');
    await expectThere(way);
    // What comes too late changes nothing.
    expect((await carry()).transfer?.phase).toBe('Complete');
    expect(world.all('objecttransfers')).toEqual([]);
  }));

/** More than the way has. */
const mostCalls = 60;

/** At each call of the way, until one comes to its end. @returns how many there were */
async function atEachCall(effect: boolean, body: (way: Way) => Promise<void>): Promise<number> {
  for (let cut = 1; ; cut += 1) {
    let hasDied = false;
    await onTheWay(cut, async (way) => {
      hasDied = await dieAt(way, cut, effect);
      await body(way);
    });
    if (!hasDied) return cut - 1;
  }
}

test.each([false, true])(
  'a worker that dies at any call, and another that goes on, lose nothing (effect of the call: %s)',
  async (effect) => {
    const calls = await atEachCall(effect, async (way) => {
      expect((await way.carry()).transfer?.phase).toBe('Complete');
      await expectThere(way);
    });
    expect(calls).toBeGreaterThan(15);
    expect(calls).toBeLessThan(mostCalls);
  },
  1_800_000,
);

test('two that carry it at once, at any pace, and one that dies, lose nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 1, max: mostCalls }),
      fc.boolean(),
      fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 2 }),
      async (seed, cut, effect, delaysMs) => {
        await onTheWay(seed, async (way) => {
          const later = delaysMs.map(async (delayMs) => {
            await way.world.clock.sleep(delayMs);
            // As Temporal does, where a call of its own is the one that fails.
            return await way.carry().catch(() => way.carry());
          });
          await dieAt(way, cut, effect);
          const ended = await Promise.all(later);
          for (const { transfer } of ended) expect(transfer?.phase).toBe('Complete');
          await expectThere(way);
        });
      },
    ),
    { numRuns: 15 },
  );
}, 1_800_000);

test.each([false, true])(
  'a DataVolume that is deleted on the way leaves nothing, wherever it has come to (effect of the last call: %s)',
  async (effect) => {
    await atEachCall(effect, async (way) => {
      const { world, of } = way;
      await world.remove('datavolumes', 'cdi.kubevirt.io/v1beta1', 'dst', 'copy');
      const ended = await world.activities.removeTemporary({ ...of, begin: null, withTarget: true });
      expect(ended.left).toEqual([]);
      await world.clock.sleep(10_000);
      expect(world.volume('dst', 'copy')).toBeNull();
      expect([world.all('objecttransfers'), world.claim('dst', 'copy')]).toEqual([[], null]);
      expect(world.driver.volumes.map(({ content }) => content)).toEqual(['bytes']);
      expect(world.all('persistentvolumes')).toHaveLength(1);
      expect(world.storage.read('src', 'golden')).toBe('bytes');
    });
  },
  1_800_000,
);

test.each([false, true])(
  'a user who deletes the PVC that it comes to, wherever it is: it comes all the same, or it is gone and so is the record (effect of the last call: %s)',
  async (effect) => {
    let gone = 0;
    await atEachCall(effect, async (way) => {
      const { world, carry } = way;
      if (world.claim('dst', 'copy') !== null)
        await world.kubernetes.admin.request(
          { method: 'DELETE', path: '/api/v1/namespaces/dst/persistentvolumeclaims/copy' },
          new AbortController().signal,
        );
      await world.clock.sleep(10_000);
      const { transfer } = await carry();
      if (transfer !== null) {
        expect(transfer.phase).toBe('Complete');
        return await expectThere(way);
      }
      gone += 1;
      expect(world.all('objecttransfers')).toEqual([]);
      expect(world.driver.volumes.map(({ content }) => content)).toEqual(['bytes']);
      expect(world.all('persistentvolumes')).toHaveLength(1);
    });
    expect(gone).toBeGreaterThan(0);
  },
  1_800_000,
);

test('nothing is touched where the target is a user’s', () =>
  onTheWay(1, async ({ world, carry, volume, from }) => {
    await world.makeClaim('dst', 'copy', 'of a user');
    expect((await carry()).transfer).toMatchObject({
      phase: 'Error',
      message: expect.stringContaining('already exists and is not managed'),
    });
    expect(world.storage.read('dst', 'copy')).toBe('of a user');
    expect(world.claim(from.namespace, from.name)).toMatchObject({ spec: { volumeName: volume } });
    expect(world.kubernetes.object('persistentvolumes', { name: volume })).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: 'Delete' },
    });
  }));

test('a Pod that uses the temporary claim is waited for, and the volume is kept meanwhile', () =>
  onTheWay(1, async (way) => {
    const { world, carry, from } = way;
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'src', name: 'odd' },
      spec: { containers: [], volumes: [{ name: 'a', persistentVolumeClaim: { claimName: from.name } }] },
    };
    await world.set(pod);
    const waiting = world.activities.transferClaim({
      ...way.of,
      begin: null,
      from,
      patienceMs: 1_000,
      known: null,
    });
    expect((await waiting).transfer).toEqual({ phase: 'Running', message: 'Pods using PVC' });
    await world.kubernetes.admin.request(
      { method: 'DELETE', path: '/api/v1/namespaces/src/pods/odd', query: { gracePeriodSeconds: 0 } },
      new AbortController().signal,
    );
    expect((await carry()).transfer?.phase).toBe('Complete');
    await expectThere(way);
  }));

test('a volume of a class that retains is retained in the end', () =>
  onTheWay(1, async ({ world, carry, volume }) => {
    await world.kubernetes.admin.request(
      {
        method: 'PATCH',
        patchType: 'merge',
        path: `/api/v1/persistentvolumes/${volume}`,
        body: { spec: { persistentVolumeReclaimPolicy: 'Retain' } },
      },
      new AbortController().signal,
    );
    expect((await carry()).transfer?.phase).toBe('Complete');
    expect(world.kubernetes.object('persistentvolumes', { name: volume })).toMatchObject({
      spec: { persistentVolumeReclaimPolicy: 'Retain' },
    });
  }));
