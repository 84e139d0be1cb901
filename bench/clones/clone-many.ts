import { setTimeout as delay } from 'node:timers/promises';
import { dataVolumeId } from '../../contracts/ids.ts';
import { claimObject, dataVolumeObject } from '../../lab/data-volumes.ts';
import { applyObject } from '../../lab/kubernetes-objects.ts';
import { storageResources } from '../../runtime/kubernetes/storage-resources.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import { ratiosOf, runPairs } from '../harness/pairs.ts';
import { mapConcurrently } from '../load/concurrency.ts';
import type { LoadRun } from '../load/load-run.ts';
import { percentile } from '../statistics.ts';
import { type ClonesWorld, patienceMs, size, source, withClonesWorld } from './clones-world.ts';
import { type CloneDriver, cloneFigures, clonePrefix, scriptCount } from './figures.ts';

const titles: Readonly<Record<CloneDriver, string>> = {
  directories: 'clones of one source, whose volumes are directories',
  rbd: 'clones of one source in Ceph',
};
const pollMs = 100;
/** What storage of a network takes, as it is told to for a comparison. */
const slowMs = { CreateSnapshot: 1_000, CreateVolume: 3_000 } as const;

/** So many clones of one source at once, by drover; as many by a script, too. */
export const cloneMany = (driver: CloneDriver, counts: readonly number[]): Benchmark<LoadRun> => ({
  name: driver,
  title: titles[driver],
  minutes: driver === 'rbd' ? 8 : 5,
  figures: counts.flatMap((count) => cloneFigures(driver, count, count === scriptCount(counts))),
  measure: (run) =>
    withClonesWorld(run, driver, async (world) => {
      const samples: Record<string, number[]> = {};
      const add = (count: number, measured: Readonly<Record<string, number>>): void => {
        for (const [name, value] of Object.entries(measured))
          (samples[`${clonePrefix(driver, count)}.${name}`] ??= []).push(value);
      };
      for (const count of counts) {
        if (count !== scriptCount(counts)) {
          for (let repetition = 0; repetition < run.repetitions; repetition += 1)
            add(count, withoutBound(await byDrover(world, count, `${count}-${repetition}`, run)));
          continue;
        }
        const beside = async (storage: '' | 'slow-'): Promise<void> => {
          const pairs = await runPairs(run.repetitions, ['drover', 'script'] as const, async (side, pair) => {
            if (storage !== '') await slowDown(world);
            const prefix = `${storage}${count}-${pair}`;
            if (side === 'script') return await byScript(world, count, prefix, run);
            const measured = await byDrover(world, count, prefix, run);
            if (storage === '') add(count, withoutBound(measured));
            return measured.bound;
          });
          const [bound, script] = (['drover', 'script'] as const).map((side) => pairs.map(({ sides }) => sides[side]));
          for (const value of bound ?? []) add(count, { [`${storage}bound`]: value });
          for (const value of script ?? []) add(count, { [`${storage}script`]: value });
          for (const ratio of ratiosOf(pairs, 'drover', 'script')) add(count, { [`${storage}ratio`]: ratio });
        };
        await beside('');
        await beside('slow-');
        await world.control.clearFaults();
      }
      return samples satisfies Samples;
    }),
});

const withoutBound = ({ bound: _bound, ...others }: Awaited<ReturnType<typeof byDrover>>) => others;

const namesOf = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);

async function byDrover(world: ClonesWorld, count: number, prefix: string, { report }: LoadRun) {
  const { api, client, control, followed, storageClass } = world;
  const names = namesOf(`disk-${prefix}`, count);
  const [calls, snapshots] = [await world.calls(), await control.count('CreateSnapshot')];
  const seen = followed.events.length;
  await Promise.all(
    names.map((name) =>
      applyObject(api, dataVolumeObject({ name, from: { pvc: source }, size, storageClass, exact: true })),
    ),
  );
  /** When it was first seen so, Unix ms. */
  const firstMs = (kind: string, name: string, phase?: string): number | undefined =>
    followed.events
      .slice(seen)
      .find(
        ({ object }) =>
          object.kind === kind &&
          object.metadata.name === name &&
          (phase === undefined || object.status?.phase === phase),
      )?.atMs;
  await poll(`${count} DataVolumes to be Succeeded`, () => {
    const done = names.filter((name) => firstMs('DataVolume', name, 'Succeeded') !== undefined).length;
    return done === count || `${done} are`;
  });
  await world.untilQuiet();
  await world.checkContent(names);
  const since = names.map((name) => firstMs('DataVolume', name) ?? Number.NaN);
  const until = names.map((name) => firstMs('DataVolume', name, 'Succeeded') ?? Number.NaN);
  const bound = names.map((name) => firstMs('PersistentVolumeClaim', name, 'Bound') ?? Number.NaN);
  const each = until.map((ms, index) => (ms - (since[index] ?? Number.NaN)) / 1_000);
  const begunMs = Math.min(...since);
  const measured = {
    all: (Math.max(...until) - begunMs) / 1_000,
    bound: (Math.max(...bound) - begunMs) / 1_000,
    p50: percentile(each, 0.5),
    p99: percentile(each, 0.99),
    snapshots: (await control.count('CreateSnapshot')) - snapshots,
    kubernetes: ((await world.calls()) - calls) / count,
    events: (await countEvents(client, names)) / count,
  };
  report(
    `drover, ${count}: ${Object.entries(measured)
      .map(([name, value]) => `${name} ${value.toFixed(1)}`)
      .join(', ')}`,
  );
  await world.removeAll();
  return measured;
}

/** Of the last run of each. */
async function countEvents(client: ClonesWorld['client'], names: readonly string[]): Promise<number> {
  const lengths: number[] = [];
  await mapConcurrently(names, 8, async (name) => {
    const handle = client.workflow.getHandle(dataVolumeId(source.namespace, name));
    lengths.push((await handle.describe()).historyLength);
  });
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** As storage of a network does. */
async function slowDown({ control }: ClonesWorld): Promise<void> {
  await control.clearFaults();
  for (const [method, delayMs] of Object.entries(slowMs) as [keyof typeof slowMs, number][])
    await control.inject({ method, delayMs, count: 1_000 });
}

/** One snapshot, and all from it at once. @returns seconds until the last one is bound */
async function byScript(
  world: ClonesWorld,
  count: number,
  prefix: string,
  { report, signal }: LoadRun,
): Promise<number> {
  const { api, objects, storageClass, snapshotClass } = world;
  const { namespace } = source;
  const snapshot = { namespace, name: `script-${prefix}` };
  const names = namesOf(`script-${prefix}`, count);
  const startedMs = performance.now();
  await applyObject(api, {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: snapshot,
    spec: { volumeSnapshotClassName: snapshotClass, source: { persistentVolumeClaimName: source.name } },
  });
  await poll('the snapshot to be ready', async () => {
    const found = await objects.get(storageResources.VolumeSnapshot, snapshot, signal);
    return found?.status?.readyToUse === true || 'not yet';
  });
  const dataSource = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: snapshot.name };
  await Promise.all(
    names.map((name) => {
      const { spec, ...claim } = claimObject({ name, size, storageClass });
      return applyObject(api, { ...claim, spec: { ...spec, dataSource } });
    }),
  );
  await poll(`${count} PVCs to be bound`, async () => {
    const claims = await objects.list(storageResources.PersistentVolumeClaim, { namespace }, signal);
    const bound = claims.filter(({ metadata, status }) => names.includes(metadata.name) && status?.phase === 'Bound');
    return bound.length === count || `${bound.length} are`;
  });
  const seconds = (performance.now() - startedMs) / 1_000;
  report(`script, ${count}: ${seconds.toFixed(1)} s`);
  const found = await objects.get(storageResources.VolumeSnapshot, snapshot, signal);
  if (found !== null) await objects.delete(storageResources.VolumeSnapshot, found.metadata, signal);
  await world.untilQuiet();
  await world.removeAll();
  return seconds;
}

async function poll(what: string, look: () => Promise<true | string> | true | string): Promise<void> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen === true) return;
    if (performance.now() > endMs) throw new Error(`waited ${patienceMs / 1_000} s for ${what}: ${seen}`);
    await delay(pollMs);
  }
}
