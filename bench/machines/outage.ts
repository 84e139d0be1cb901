import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { apiServerSafetyId } from '../../contracts/ids.ts';
import { safetyMemo } from '../../contracts/machine-safety/api-server-safety.ts';
import { readSafetyState } from '../../contracts/machine-safety/judge-api-servers.ts';
import { machineFixture } from '../../lab/machines.ts';
import { systemClock } from '../../runtime/clock.ts';
import { machinesConfig } from '../../runtime/config/machines-config.ts';
import { createReadFreeze } from '../../runtime/temporal/read-freeze.ts';
import type { Benchmark, Samples } from '../harness/benchmark.ts';
import type { LoadRun } from '../load/load-run.ts';
import { outageFigures } from './figures.ts';
import { bySelf, type MachinesWorld, withMachinesWorld } from './machines-world.ts';

const { namespace } = machineFixture;
/** Far more than any of it takes by the defaults. */
const patienceMs = 300_000;
const pollMs = 200;
/** To see that it works. */
const quick = { periodMs: 2_000, timeoutMs: 2_000 };

/** The API server of the Nodes is away, and comes back. */
export const outage: Benchmark<LoadRun> = {
  name: 'outage',
  title: 'the API server of the Nodes is cut off, and mended',
  minutes: 9,
  figures: outageFigures,
  measure(run) {
    const { apiServers } = machinesConfig.parse(run.quick ? { apiServers: quick } : {});
    return withMachinesWorld(
      run,
      { providers: [], machines: { sweep: bySelf, apiServers }, prepare: () => Promise.resolve() },
      async (world): Promise<Samples> => {
        const samples: Record<string, number[]> = {};
        await untilThawed(world, apiServers, run.signal);
        for (let repetition = 1; repetition <= run.repetitions; repetition += 1) {
          // Not always right after a probe.
          await delay(((repetition - 1) / run.repetitions) * apiServers.periodMs, undefined, { signal: run.signal });
          const measured = await measureOutage(world, apiServers, run.signal);
          run.report(
            Object.entries(measured)
              .map(([name, value]) => `${name} ${value.toFixed(2)}`)
              .join(', '),
          );
          for (const [name, value] of Object.entries(measured)) (samples[`machines-outage.${name}`] ??= []).push(value);
        }
        return samples;
      },
    );
  },
};

type World = Pick<MachinesWorld<never>, 'client' | 'target'>;
interface ApiServers {
  periodMs: number;
  timeoutMs: number;
}

async function measureOutage({ client, target }: World, settings: ApiServers, signal: AbortSignal) {
  const read = createReadFreeze({ temporal: client, cluster: '', clock: systemClock, settings });
  const cutMs = Date.now();
  target.cut();
  const unknownMs = await poll('the freeze to be unknown', signal, async () => {
    const { state } = await read(namespace, signal);
    return state === 'thawed' ? null : Date.now();
  });
  const frozen = await poll('Machines to be frozen', signal, async () => {
    const state = await readMemo(client);
    return state?.frozen === true ? { atMs: Date.now(), sinceMs: state.inactiveSinceMs ?? Number.NaN } : null;
  });
  const mendedMs = Date.now();
  target.mend();
  const thawedMs = await untilThawed({ client, target }, settings, signal);
  return {
    unknown: (unknownMs - cutMs) / 1_000,
    frozen: (frozen.atMs - cutMs) / 1_000,
    ratio: (frozen.atMs - frozen.sinceMs) / settings.timeoutMs,
    thawed: (thawedMs - mendedMs) / 1_000,
  };
}

/**
 * When both the memo and who asks say so: until then the next cut has nothing to change.
 * @returns when the memo said so, in unix ms
 */
export async function untilThawed({ client }: World, settings: ApiServers, signal: AbortSignal): Promise<number> {
  const read = createReadFreeze({ temporal: client, cluster: '', clock: systemClock, settings });
  const thawedMs = await poll('Machines to be thawed', signal, async () =>
    (await readMemo(client))?.frozen === false ? Date.now() : null,
  );
  await poll('the freeze to be known', signal, async () =>
    (await read(namespace, signal)).state === 'thawed' ? true : null,
  );
  return thawedMs;
}

/** Null: the run has decided nothing yet, or its worker has not started it. */
async function readMemo(client: World['client']) {
  try {
    const { memo } = await client.workflow.getHandle(apiServerSafetyId(namespace)).describe();
    return readSafetyState(memo?.[safetyMemo]);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** Finer than a test waits. */
async function poll<Result>(what: string, signal: AbortSignal, observe: () => Promise<Result | null>): Promise<Result> {
  const endMs = performance.now() + patienceMs;
  while (performance.now() < endMs) {
    const found = await observe();
    if (found !== null) return found;
    await delay(pollMs, undefined, { signal });
  }
  throw new Error(`waited ${patienceMs / 1_000} s for ${what}`);
}
