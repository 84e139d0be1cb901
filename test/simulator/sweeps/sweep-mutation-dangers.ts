import { apiServerSafetyId, workflowTypes } from '../../../contracts/ids.ts';
import { writeProviderId } from '../../../contracts/machine-safety/provider-id.ts';
import { machineFixture, putMachine, vmPath } from '../../../lab/machines.ts';
import { type Danger, dangers } from './sweep-dangers.ts';
import { inSweepWorld, periodMs, type SweepWorld, type SweepWorldOptions } from './sweep-world.ts';

/** What may go wrong where something is broken that no setting switches off (sweep-mutations.ts). */

/** How it was in the end, as JSON. */
export interface SweepEnd {
  left: string[];
  /** How many deletions runs have asked for. */
  asked: number;
  /** Reasons of Events. */
  events: string[];
  violated: string[];
}

interface Noticed extends Pick<Danger, 'name' | 'needed' | 'happen'> {
  /** Made for each run, as it may wait for something to happen. */
  options?: (tell: () => SweepWorld | null) => SweepWorldOptions;
  /** Whether what is needed may be asked to be deleted, and is kept by the second look alone. */
  mayAsk: boolean;
  says?: string;
}

const workers = ['worker-1', 'worker-2', 'worker-3', 'worker-4', 'worker-5'];
const makeWorkers = async (world: SweepWorld): Promise<void> => {
  for (const name of workers) await world.makeVm(name);
};

/** Nothing but sightings lies between an orphan and its deletion. */
const quick = { ageMs: 0, sightings: 1 };

const ofDangers = (name: string, more: Pick<Noticed, 'mayAsk' | 'says'>): Noticed => {
  const { options = {}, needed, happen } = dangers.find((danger) => danger.name === name) as Danger;
  return { name, needed, happen, options: () => options, ...more };
};

/** The moment when the first sweep of a run lists VMs. */
let listing = Promise.withResolvers<void>();

/** What happens, once, as the first deletion is about to begin. */
const asDeletionBegins =
  (happen: (world: SweepWorld) => Promise<void>): NonNullable<Noticed['options']> =>
  (tell) => {
    let isDone = false;
    return {
      sweep: quick,
      async onActivity({ activity }): Promise<'works'> {
        const world = tell();
        if (activity === 'deleteOrphan' && !isDone && world !== null) {
          isDone = true;
          await happen(world);
        }
        return 'works';
      },
    };
  };

const endSafety = ({ deployment }: SweepWorld): Promise<unknown> =>
  deployment.simulation.client.workflow.getHandle(apiServerSafetyId(machineFixture.namespace)).terminate('by a user');

export const sweepDangers: readonly Noticed[] = [
  ofDangers('the credential sees VMs of another cluster, of none, and of one that has half of the marks', {
    mayAsk: true,
  }),
  ofDangers('vCenter answers the first half of a list, and Nova all of it', { mayAsk: true, says: 'ClassNotSwept' }),
  {
    name: 'a VM and its Machine come while the VMs are listed',
    needed: [...workers, 'new'],
    mayAsk: false,
    options() {
      listing = Promise.withResolvers();
      return {
        sweep: quick,
        onCall({ verb, activity }) {
          // The classes are read, and no VM is listed yet.
          if (verb === 'get secrets' && activity?.activity === 'observeSweep') listing.resolve();
          return 'works';
        },
      };
    },
    async happen(world) {
      await makeWorkers(world);
      await listing.promise;
      await world.makeVm('new');
      await world.pass(3 * periodMs);
    },
  },
  {
    name: 'a Machine names its VM right before the VM is deleted',
    needed: [...workers, 'late'],
    mayAsk: true,
    options: asDeletionBegins(async ({ api, witness }) => {
      const vm = await witness.describeVm(vmPath('late'));
      const id = { provider: 'vsphere', region: machineFixture.region.vsphere, id: vm?.config.uuid ?? '' } as const;
      await putMachine(api, { name: 'late', providerId: writeProviderId(id) });
    }),
    async happen(world) {
      await makeWorkers(world);
      await world.makeVm('late', { machine: null });
      await world.pass(4 * periodMs);
    },
  },
  {
    name: 'it is not known whether Machines are frozen',
    needed: [...workers, 'orphan'],
    mayAsk: false,
    options: () => ({ sweep: quick }),
    async happen(world) {
      await makeWorkers(world);
      // A worker would start it again.
      await world.pass(5.5 * periodMs);
      await endSafety(world);
      await world.makeVm('orphan', { machine: null });
      await world.pass(3 * periodMs);
    },
  },
  {
    name: 'it is not known any more whether Machines are frozen, right before a VM is deleted',
    needed: [...workers, 'orphan'],
    mayAsk: true,
    options: asDeletionBegins(async (world) => {
      await endSafety(world);
      // Longer than an answer is kept.
      await world.pass(2_000);
    }),
    async happen(world) {
      await makeWorkers(world);
      await world.pass(5.5 * periodMs);
      await world.makeVm('orphan', { machine: null });
      await world.pass(3 * periodMs);
    },
  },
  {
    name: 'the API server of the Nodes goes away right before a VM is deleted',
    needed: [...workers, 'orphan'],
    mayAsk: true,
    options: (tell) => ({
      ...asDeletionBegins(async ({ deployment }) => deployment.target.service.kill())(tell),
      hasTarget: true,
    }),
    async happen(world) {
      await makeWorkers(world);
      await world.pass(2 * periodMs);
      await world.makeVm('orphan', { machine: null });
      await world.pass(5 * periodMs);
    },
  },
];

/** Runs what may go wrong. @param bundle default: drover's own workflows */
export async function endOf(name: string, bundle?: SweepWorldOptions['bundle']): Promise<SweepEnd> {
  const { happen, options } = find(name);
  let told: SweepWorld | null = null;
  return await inSweepWorld({ ...options?.(() => told), ...(bundle !== undefined && { bundle }) }, async (world) => {
    told = world;
    await happen(world);
    const { simulation, kubernetes } = world.deployment;
    const sweeps = simulation.runs().filter(({ type }) => type === workflowTypes.sweepOrphans);
    return {
      left: [...(await world.vms()), ...(await world.servers())],
      asked: sweeps.flatMap(({ activities }) => activities).filter((activity) => activity === 'deleteOrphan').length,
      events: kubernetes.objects('events').map((event) => String((event as { reason?: unknown }).reason)),
      violated: await world.violations(),
    };
  });
}

/** A sentence for each thing that is amiss. Pure. */
export function complaintsOf(name: string, { left, asked, events, violated }: SweepEnd): string[] {
  const { needed, mayAsk, says } = find(name);
  return [
    ...needed.filter((one) => !left.includes(one)).map((one) => `${one} is gone`),
    ...(asked > 0 && !mayAsk ? [`${asked} deletions were asked for`] : []),
    ...(says === undefined || events.includes(says) ? [] : [`no Event says ${says}`]),
    ...violated,
  ];
}

function find(name: string): Noticed {
  const found = sweepDangers.find((danger) => danger.name === name);
  if (found === undefined) throw new Error(`there is no danger ${name}`);
  return found;
}
