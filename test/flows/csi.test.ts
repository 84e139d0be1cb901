import { type CsiCalls, type CsiControl, csiControl } from '../../lab/csi/control.ts';
import { killCsi, restartCsi } from '../../lab/csi/faults.ts';
import { csiClasses } from '../../lab/csi/handle.ts';
import { readVolume, writeVolume } from '../../lab/csi/volumes.ts';
import {
  canRunCeph,
  classOf,
  type CsiDriverName,
  type CsiWorld,
  csiStartTimeoutMs,
  openCsiWorld,
} from './csi-world.ts';
import { until } from './until.ts';
import { limitMs } from './world-base.ts';

/** The lab's volumes: what a clone of drover goes through, with real bytes, and what its tests can let go wrong. */

const deadlineMs = 30_000;
/** Nine clones, each of the one before it, take so long. */
const chainMs = 180_000;

let world: CsiWorld;
beforeAll(async () => void (world = await openCsiWorld({ withCeph: canRunCeph })), csiStartTimeoutMs);
afterEach(() => world?.clear(), limitMs);
afterAll(() => world?.close());

const bytesOf = async (claim: string): Promise<string> =>
  (await readVolume(world.csi, await world.bound(claim))).toString();

const write = async (claim: string, text: string): Promise<void> =>
  writeVolume(world.csi, await world.bound(claim), Buffer.from(text));

const remove = (...names: readonly string[]): Promise<string> => world.kubectl(['delete', '--timeout=60s', ...names]);

/** Takes the faults back once the calls show enough refusals. */
async function clearOnceRefused(
  control: CsiControl,
  withinMs: number,
  isEnough: (calls: CsiCalls) => boolean,
): Promise<void> {
  await until('refusals', withinMs, async () => {
    const calls = await control.calls();
    return isEnough(calls) || JSON.stringify(calls);
  });
  await control.clearFaults();
}

describeDriver('a claim’s bytes come back', 'directories', false);
describeDriver('a device’s bytes come back', 'directories', true);
describeDriver('Ceph: a device’s bytes come back', 'rbd', true);

function describeDriver(title: string, driver: CsiDriverName, block: boolean): void {
  const testDriver = driver === 'rbd' && !canRunCeph ? test.skip : test;
  testDriver(
    title,
    async () => {
      const storageClass = classOf(driver);
      await world.claim('source', { storageClass, size: '64Mi', block });
      await write('source', 'as it was');
      expect(await world.snapshot('before', 'source', driver)).toMatchObject({ restoreSize: '64Mi' });
      await write('source', 'as it is!');

      await world.claim('restored', { storageClass, size: '64Mi', block, from: { snapshot: 'before' } });
      await world.claim('larger', { storageClass, size: '96Mi', block, from: { snapshot: 'before' } });
      await world.claim('clone', { storageClass, size: '64Mi', block, from: { claim: 'source' } });
      expect(await bytesOf('restored')).toBe('as it was');
      expect(await bytesOf('larger')).toBe('as it was');
      expect(await bytesOf('clone')).toBe('as it is!');
      await world.expectCapacity('larger', '96Mi');

      const more = { spec: { resources: { requests: { storage: '128Mi' } } } };
      await world.kubectl(['patch', 'pvc', 'restored', '--patch', JSON.stringify(more)]);
      await world.expectCapacity('restored', '128Mi');

      // What others were made of goes first.
      await remove('pvc/source');
      await remove('volumesnapshot/before');
      expect(await bytesOf('restored')).toBe('as it was');
      expect(await bytesOf('clone')).toBe('as it is!');
      await remove('pvc/restored', 'pvc/larger', 'pvc/clone');
      await world.expectNothingLeft(driver);
    },
    limitMs,
  );
}

test(
  'faults: refused, late, and done without a word',
  async () => {
    const control = csiControl(world.csi);
    await control.clearCalls();
    await control.inject({ method: 'CreateVolume', code: 'Aborted', count: 2 });
    await control.inject({ method: 'CreateVolume', code: 'Internal', message: 'the answer is lost', after: true });
    await control.inject({ method: 'CreateVolume', delayMs: 300 });
    await world.claim('tried', { size: '1Mi' });
    await world.bound('tried');
    expect((await control.calls()).CreateVolume).toEqual({ Aborted: 2, Internal: 1, OK: 1 });
    expect(await control.count('CreateVolume')).toBe(4);
    expect(await control.running('CreateVolume')).toBe(0);

    await control.inject({ method: 'CreateSnapshot', code: 'ResourceExhausted', count: 1_000 });
    await Promise.all([
      world.snapshot('full', 'tried', 'directories'),
      clearOnceRefused(control, deadlineMs, ({ CreateSnapshot }) => (CreateSnapshot?.ResourceExhausted ?? 0) >= 2),
    ]);
  },
  limitMs,
);

test(
  'a driver that is killed finds its volumes again',
  async () => {
    await world.claim('survivor', { size: '1Mi' });
    await write('survivor', 'still here');
    await killCsi(world.csi, 'directories');
    await restartCsi(world.csi);
    await world.claim('copy', { size: '1Mi', from: { claim: 'survivor' } });
    expect(await bytesOf('copy')).toBe('still here');
  },
  limitMs,
);

test(
  'classes: a fixed size, and a volume that waits for a node',
  async () => {
    await world.claim('fixed', { storageClass: csiClasses.fixed, size: '1Mi' });
    await world.bound('fixed');
    const more = { spec: { resources: { requests: { storage: '2Mi' } } } };
    await expect(world.kubectl(['patch', 'pvc', 'fixed', '--patch', JSON.stringify(more)])).rejects.toThrow(
      /storageclass that provisions the pvc must support resize/u,
    );

    await world.claim('waiting', { storageClass: csiClasses.waiting, size: '1Mi' });
    await until('it to say what it waits for', deadlineMs, async () => {
      const events = await world.kubectl(['events', '--for', 'pvc/waiting']);
      return events.includes('WaitForFirstConsumer') || events;
    });
    expect((await world.getClaim('waiting')).status.phase).toBe('Pending');
    await world.kubectl(['annotate', 'pvc/waiting', 'volume.kubernetes.io/selected-node=some-node']);
    await world.bound('waiting');
  },
  limitMs,
);

test(
  'a quota refuses what is too much, and lets it pass once it is raised',
  async () => {
    const quota = (storage: string) =>
      world.kubectl(['apply', '-f', '-'], {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'storage' },
        spec: { hard: { 'requests.storage': storage } },
      });
    await quota('2Mi');
    await until('the quota to be counted', deadlineMs, async () => {
      const { status } = await world.get<{ status?: { hard?: object } }>('resourcequota', 'storage');
      return status?.hard !== undefined || 'no status';
    });
    await world.claim('first', { size: '2Mi' });
    await expect(world.claim('second', { size: '2Mi' })).rejects.toThrow(/exceeded quota: storage/u);
    await quota('4Mi');
    await until('the second one to be taken', deadlineMs, async () => {
      await world.claim('second', { size: '2Mi' });
      return true;
    });
    await world.bound('second');
  },
  limitMs,
);

(canRunCeph ? test : test.skip)(
  'Ceph: clones of clones are flattened, and wait for that where they are too deep',
  async () => {
    const storageClass = csiClasses.rbd;
    const control = csiControl(world.csi, world.driver('rbd'));
    await control.clearCalls();
    // Nothing gets flat until a clone was refused for its depth.
    await control.inject({ method: 'Flatten', code: 'Internal', count: 1_000_000 });
    await world.claim('deep-0', { storageClass, size: '8Mi', block: true });
    await write('deep-0', 'all the way down');
    const depths = Array.from({ length: 9 }, (_, index) => index + 1);
    const makeChain = async (): Promise<void> => {
      for (const depth of depths) {
        const from = { claim: `deep-${depth - 1}` };
        await world.claim(`deep-${depth}`, { storageClass, size: '8Mi', block: true, from });
        await world.bound(`deep-${depth}`);
      }
    };
    await Promise.all([
      makeChain(),
      clearOnceRefused(control, chainMs, ({ CreateVolume }) => (CreateVolume?.Aborted ?? 0) > 0),
    ]);
    const { CreateVolume: created, Flatten: flattened } = await control.calls();
    expect(created).toMatchObject({ OK: 10, Aborted: expect.any(Number) });
    expect(flattened?.OK).toBeGreaterThanOrEqual(1);
    expect(await bytesOf('deep-9')).toBe('all the way down');

    for (const depth of [0, ...depths]) await remove(`pvc/deep-${depth}`);
    await world.expectNothingLeft('rbd');
  },
  limitMs,
);
