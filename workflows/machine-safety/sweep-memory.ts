import { providerIdKey } from '../../contracts/machine-safety/provider-id.ts';
import type { AnnotatedNodes } from '../../contracts/machine-safety/unmanaged-nodes.ts';
import type {
  AnsweredLeftover,
  Approval,
  AskedLeftover,
  Candidate,
  ObservedSweep,
  Sighting,
  SweepMemory,
  SweepSettings,
  SweptNodes,
  SweptVm,
} from '../../contracts/machine-safety/sweep.ts';

/** What a run of the sweep remembers: of the sweeps before it, and of itself. Pure. Times are Unix ms. */
export interface SweepRunMemory {
  /** Null before the first observation. */
  sweep: SweepMemory | null;
  /** When the run began to wait for an approval; null: it does not. */
  approvalAskedMs: number | null;
  /** When the run sweeps once more, as a class failed or nothing was listed; null: it has had no reason. */
  retryAtMs: number | null;
  /** Those that were not deleted after all, or are listed though they were, by `providerIdKey`. */
  refused: Readonly<Record<string, Refusal>>;
  /** Why none is deleted any more. */
  halted: Refusal | null;
  /** The last of them. */
  deleted: readonly SweptVm[];
  deletedCount: number;
  /** Null: they were not looked at. A run does so once. */
  nodes: SweptNodes | null;
  /** Those that users want deleted. */
  askedLeftovers: readonly AskedLeftover[];
  /** The last of them. */
  answeredLeftovers: readonly AnsweredLeftover[];
}

export interface Refusal {
  message: string;
  atMs: number;
}

export const noSweepMemory: SweepRunMemory = {
  sweep: null,
  approvalAskedMs: null,
  retryAtMs: null,
  refused: {},
  halted: null,
  deleted: [],
  deletedCount: 0,
  nodes: null,
  askedLeftovers: [],
  answeredLeftovers: [],
};

/** For a result that people read, and that Temporal bounds. */
const mostShown = 100;

/**
 * Sweeps that begin sooner after one another are one: they share a cap, and what they find counts as one sighting. So a
 * burst of Machines that go away, each of which starts a sweep, is not taken for several periods. Half a period, so
 * that the jitter of the Schedule loses none.
 */
export const apartMs = ({ periodMs }: Pick<SweepSettings, 'periodMs'>): number => periodMs / 2;

/**
 * Adds an observation to what is remembered. To add the same one again changes nothing.
 *
 * @param before null: no sweep is remembered
 * @param nowMs when the observation was asked for
 */
export function rememberSweep(
  before: SweepMemory | null,
  observed: Pick<ObservedSweep, 'clusterUid' | 'resourceVersion' | 'candidates' | 'classes'>,
  settings: Pick<SweepSettings, 'periodMs' | 'probationMs'>,
  nowMs: number,
): SweepMemory {
  const { clusterUid, resourceVersion, candidates, classes } = observed;
  const why = whyProbation(before, observed);
  const base: SweepMemory =
    before === null || why !== null
      ? {
          clusterUid,
          resourceVersion,
          probationUntilMs: nowMs + settings.probationMs,
          probationWhy: why ?? '',
          sightings: {},
          approved: {},
          round: { startedMs: nowMs, deleted: 0 },
        }
      : before;
  const failed = new Set(classes.filter(({ failure }) => failure !== null).map(({ name }) => name));
  const seen = candidates.map((candidate) => [providerIdKey(candidate.providerId), candidate] as const);
  // Of a class that could not be listed nothing is known: its sightings neither count on nor end.
  const sightings = {
    ...Object.fromEntries(Object.entries(base.sightings).filter(([, { machineClass }]) => failed.has(machineClass))),
    ...Object.fromEntries(
      seen.map(([key, candidate]) => [key, sight(base.sightings[key], candidate, apartMs(settings), nowMs)]),
    ),
  };
  return {
    ...base,
    resourceVersion: Math.max(base.resourceVersion, resourceVersion),
    sightings,
    approved: Object.fromEntries(Object.entries(base.approved).filter(([key]) => Object.hasOwn(sightings, key))),
    round: nowMs - base.round.startedMs < apartMs(settings) ? base.round : { startedMs: nowMs, deleted: 0 },
  };
}

/** Null: what is remembered is of the same cluster, and not newer than it. */
function whyProbation(
  before: SweepMemory | null,
  { clusterUid, resourceVersion }: Pick<ObservedSweep, 'clusterUid' | 'resourceVersion'>,
): string | null {
  if (before === null) return 'no sweep is remembered';
  if (before.clusterUid !== clusterUid) return 'the Namespace of the Machines is another one than it was';
  if (resourceVersion < before.resourceVersion)
    return `the Machines are older than they were (resourceVersion ${resourceVersion} after ${before.resourceVersion}): kube-apiserver was restored`;
  return null;
}

/** One that has another name is another one. */
function sight(
  before: Sighting | undefined,
  { machineName, machineClass, why }: Candidate,
  leastApartMs: number,
  nowMs: number,
): Sighting {
  const named = { machineName, machineClass, why };
  if (before?.machineName !== machineName) return { firstMs: nowMs, countedMs: nowMs, count: 1, ...named };
  const counts = nowMs - before.countedMs >= leastApartMs;
  return { ...before, ...named, ...(counts && { countedMs: nowMs, count: before.count + 1 }) };
}

/** What of the run's own memory an observation has overtaken goes. */
export function pruneRun(
  memory: SweepRunMemory,
  observed: Pick<ObservedSweep, 'candidates'>,
  settings: Pick<SweepSettings, 'periodMs'>,
  nowMs: number,
): SweepRunMemory {
  const keys = new Set(observed.candidates.map(({ providerId }) => providerIdKey(providerId)));
  const isRecent = ({ atMs }: Refusal): boolean => nowMs - atMs < apartMs(settings);
  return {
    ...memory,
    refused: Object.fromEntries(
      Object.entries(memory.refused).filter(([key, refusal]) => keys.has(key) && isRecent(refusal)),
    ),
    halted: memory.halted !== null && isRecent(memory.halted) ? memory.halted : null,
  };
}

/**
 * A VM was deleted, or was gone. It counts against the cap, and is not deleted again while its provider still lists it.
 */
export function recordDeletion(memory: SweepRunMemory, vm: SweptVm): SweepRunMemory {
  const { sweep, deleted, deletedCount, refused } = memory;
  const key = providerIdKey(vm.providerId);
  const message = `it was deleted at ${new Date(vm.atMs).toISOString()}, and its provider still lists it`;
  return {
    ...memory,
    sweep: sweep && { ...sweep, round: { ...sweep.round, deleted: sweep.round.deleted + 1 } },
    refused: { ...refused, [key]: { message, atMs: vm.atMs } },
    deleted: [...deleted, vm].slice(-mostShown),
    deletedCount: deletedCount + 1,
  };
}

const isSame = (one: AskedLeftover, other: AskedLeftover): boolean => one.kind === other.kind && one.id === other.id;

/** Who asks again overtakes who asked before. More than a person would ask for are left out. */
export function askForLeftover(memory: SweepRunMemory, asked: AskedLeftover): SweepRunMemory {
  const others = memory.askedLeftovers.filter((one) => !isSame(one, asked));
  return { ...memory, askedLeftovers: [...others, asked].slice(0, mostShown) };
}

export function answerLeftover(memory: SweepRunMemory, answer: AnsweredLeftover): SweepRunMemory {
  const isAnswered = (one: AskedLeftover): boolean => isSame(one, answer) && one.at === answer.at;
  return {
    ...memory,
    askedLeftovers: memory.askedLeftovers.filter((one) => !isAnswered(one)),
    answeredLeftovers: [...memory.answeredLeftovers, answer].slice(-mostShown),
  };
}

/** @param failure why not all of them were looked at */
export function recordNodes(
  memory: SweepRunMemory,
  { marked, unmarked }: AnnotatedNodes,
  failure: string | null = null,
): SweepRunMemory {
  return { ...memory, nodes: { marked: marked.slice(0, mostShown), unmarked: unmarked.slice(0, mostShown), failure } };
}

/**
 * A deletion has failed, and may have changed the VM already: it counts against the cap, so that what
 * vCenter refuses at the last step does not happen to every orphan in one sweep.
 */
export function recordFailure(memory: SweepRunMemory, providerId: string, refusal: Refusal): SweepRunMemory {
  const { sweep, refused } = memory;
  const key = providerIdKey(providerId);
  const sighting = sweep?.sightings[key];
  return {
    ...memory,
    sweep: sweep && {
      ...sweep,
      sightings: { ...sweep.sightings, ...(sighting && { [key]: { ...sighting, failedMs: refusal.atMs } }) },
      round: { ...sweep.round, failed: (sweep.round.failed ?? 0) + 1 },
    },
    refused: { ...refused, [key]: refusal },
  };
}

/** Nothing was changed. @param isOver it holds for every other VM, too */
export function recordRefusal(
  memory: SweepRunMemory,
  providerId: string,
  refusal: Refusal,
  isOver: boolean,
): SweepRunMemory {
  if (isOver) return { ...memory, halted: refusal };
  return { ...memory, refused: { ...memory.refused, [providerIdKey(providerId)]: refusal } };
}

export function approve(memory: SweepRunMemory, providerIds: readonly string[], approval: Approval): SweepRunMemory {
  const { sweep } = memory;
  if (sweep === null) return memory;
  const added = Object.fromEntries(providerIds.map((id) => [providerIdKey(id), approval]));
  return { ...memory, sweep: { ...sweep, approved: { ...sweep.approved, ...added } } };
}
