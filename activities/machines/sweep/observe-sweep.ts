import pMap from 'p-map';

import { orphanSweepDryId, orphanSweepId } from '../../../contracts/ids.ts';
import type { Leftover, ListedVm, MachineDriver } from '../../../contracts/machine-safety/driver.ts';
import { judgeVm, type KeepReason, type MachineIndex } from '../../../contracts/machine-safety/judge-vm.ts';
import { providerIdKey } from '../../../contracts/machine-safety/provider-id.ts';
import type {
  Candidate,
  ClassFailure,
  FoundLeftover,
  ListedLeftovers,
  ObservedSweep,
  SweepActivities,
  SweepInput,
  SweepObservation,
  SweptClass,
} from '../../../contracts/machine-safety/sweep.ts';
import type { Unobserved } from '../../../contracts/runs.ts';
import { timeoutSignal } from '../../../runtime/clock.ts';
import { failureCode } from '../../../runtime/failure.ts';
import { isError } from '../../../runtime/is-error.ts';
import { redactText } from '../../../runtime/redaction.ts';
import { readKeeps, type SweepKeeps } from '../../../runtime/sweep-keeps.ts';
import { unlessAborted } from '../../../runtime/unless-aborted.ts';
import { readSweepInput } from '../../lib/input.ts';
import { whileBeating } from '../../lib/wait.ts';
import { foundClasses, type FoundClass, openClass, providerOf } from './open-class.ts';
import { readLastSweep } from './read-last-sweep.ts';
import { readMachines, readMachinesElsewhere } from './read-machines.ts';
import type { SweepConfig, SweepTools } from './sweep-tools.ts';

/** Listed at once: each is a provider's work of many pages. */
const classesAtOnce = 4;
/** Of the time that this attempt has, for the lists of VMs: what comes after them takes some, too. */
const listingShare = 0.6;
/** One class may take as long. */
const longestListMs = 120_000;
/** So many orphans reach the run; there are none of so many that no user should look. */
const mostCandidates = 500;
/** As many leftovers do: they are for people alone. */
const mostLeftovers = 100;
/** So long a run that deleted something stays, and so much lies between two of its statuses. */
const lingerMs = 2_000;
const publishMinMs = 2_000;

type Request = Parameters<SweepActivities['observeSweep']>[0];

/**
 * The VMs of every class first, and then the Machines, by one list: a Machine that was made before its VM is in it. A
 * class whose VMs cannot be listed is a finding; Machines, keeps of users, or a memory that cannot be read are
 * failures, as nothing can be judged without. Machines of other namespaces are listed only where there is an orphan.
 */
export async function observeSweep(tools: SweepTools, request: Request): Promise<SweepObservation | Unobserved> {
  const input = readSweepInput(request.input);
  const { settings, scope, cluster } = tools;
  const { namespace } = input;
  if (settings === null)
    return nothing(`Machines are switched off in drover’s settings (modes.Machine); no VM of ${namespace} is swept`);
  if (!settings.namespaces.includes(namespace))
    return nothing(
      `machines.namespaces of drover’s settings does not name ${namespace}, but ${settings.namespaces.join(', ') || 'none'}; no VM of it is swept`,
    );
  const fixedId = orphanSweepId(namespace, cluster);
  const isFixed = scope.run === null || scope.run.workflowId === fixedId;
  const isDry = input.dryRun === true || scope.run?.workflowId === orphanSweepDryId(namespace, cluster);
  if (!isFixed && !isDry) {
    await tools.signalWithStart(namespace);
    return { kind: 'handedOver', message: `Run ${fixedId} sweeps ${namespace}` };
  }
  const observed = await whileBeating(
    tools,
    () => undefined,
    () => observe(tools, settings, input, request.isRemembered ? null : fixedId),
  );
  const { mode, sweep } = settings;
  return {
    kind: 'observed',
    desired: { uid: observed.clusterUid, generation: 0 },
    observed,
    settings: {
      mode,
      recheckMs: sweep.periodMs,
      lingerMs,
      publishMinMs,
      sweep,
      isDry: isDry || mode !== 'act',
      isRemembered: isFixed && !isDry,
    },
    digest: null,
    retry: null,
  };
}

const nothing = (message: string): Unobserved => ({ kind: 'nothing', message });

/** @param memoryOf the id whose last run's memory is asked for; null: the run has one */
async function observe(
  tools: SweepTools,
  { namespaces, sweep, systemNamespace, hasTarget }: SweepConfig,
  { namespace }: SweepInput,
  memoryOf: string | null,
): Promise<ObservedSweep> {
  const { client, scope } = tools;
  const { signal } = scope;
  const lastMemory =
    memoryOf === null
      ? null
      : await readLastSweep(tools, { workflowId: memoryOf, runId: scope.run?.runId ?? null }, signal);
  const found = await client.list(foundClasses, { namespace }, signal);
  const lists = await listClasses(tools, namespace, found);
  const machines = await readMachines(client, namespace, signal);
  const keeps = await readKeeps(client, systemNamespace, signal);
  const judge = (elsewhere: readonly MachineIndex[]) => judgeAll(lists, machines.index, elsewhere, keeps, sweep);
  const byOwn = judge([]);
  const { classes, candidates, listed } =
    byOwn.candidates.length === 0 || !sweep.renamedAreKept
      ? byOwn
      : judge(await readMachinesElsewhere(client, namespaces, namespace, signal));
  const freeze = await tools.readFreeze(namespace, signal);
  const leftovers = leftoversOf(lists);
  return {
    classes,
    listed,
    machines: machines.index.count,
    clusterUid: machines.clusterUid,
    resourceVersion: machines.resourceVersion,
    candidates: candidates
      .toSorted((a, b) => (`${a.machineName} ${a.providerId}` < `${b.machineName} ${b.providerId}` ? -1 : 1))
      .slice(0, mostCandidates),
    orphans: candidates.length,
    leftovers: leftovers.slice(0, mostLeftovers),
    leftoverCount: leftovers.length,
    freeze,
    hasTarget,
    lastMemory,
  };
}

type Listed = { name: string; provider: string } & (
  | { vms: ListedVm[]; leftovers: FoundLeftovers }
  | { vms: null; failure: ClassFailure }
);

type FoundLeftovers = { found: Leftover[]; failure: null } | { found: null; failure: ClassFailure };

/** One that fails, or takes too long, holds up no other. Sorted by name. */
async function listClasses(tools: SweepTools, namespace: string, found: readonly FoundClass[]): Promise<Listed[]> {
  const { scope, clock } = tools;
  const untilMs = clock.now() + (scope.deadlineMs - clock.now()) * listingShare;
  let waiting = found.length;
  const list = async (machineClass: FoundClass): Promise<Listed> => {
    scope.signal.throwIfAborted();
    const named = { name: machineClass.metadata.name, provider: providerOf(machineClass) };
    // Each of those that wait has its share, so that classes that hang leave time for the others.
    const leftMs = Math.min(longestListMs, (untilMs - clock.now()) / Math.ceil(waiting / classesAtOnce));
    waiting -= 1;
    const failed = (failure: ClassFailure): Listed => ({ ...named, vms: null, failure });
    if (leftMs <= 0)
      return failed({ code: null, message: 'there was no time left to list its VMs, as other classes have taken it' });
    const overdue = timeoutSignal(clock, leftMs);
    const either = AbortSignal.any([scope.signal, overdue.signal]);
    const failure = (what: string, error: unknown): ClassFailure => {
      scope.signal.throwIfAborted();
      if (!overdue.signal.aborted)
        return { code: failureCode(error), message: redactText(isError(error) ? error.message : String(error)) };
      return { code: null, message: `its ${what} were not listed within ${Math.round(leftMs / 1_000)} s` };
    };
    // For people alone: the class is swept without.
    const leftoversBy = async (driver: MachineDriver): Promise<FoundLeftovers> => {
      try {
        return { found: await unlessAborted(driver.listLeftovers(either), either), failure: null };
      } catch (error) {
        return { found: null, failure: failure('leftovers', error) };
      }
    };
    try {
      const driver = await openClass(tools, namespace, machineClass, either);
      const vms = await unlessAborted(driver.listMachines(either), either);
      return { ...named, vms, leftovers: await leftoversBy(driver) };
    } catch (error) {
      return failed(failure('VMs', error));
    } finally {
      overdue.dispose();
    }
  };
  const byName = found.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return await pMap(byName, list, { concurrency: classesAtOnce });
}

const countOf = ({ found, failure }: FoundLeftovers): ListedLeftovers =>
  failure === null ? { listed: found.length, failure } : { listed: null, failure };

/** One that several classes list is that of the first of them. */
function leftoversOf(lists: readonly Listed[]): FoundLeftover[] {
  const all = new Map<string, FoundLeftover>();
  for (const list of lists)
    for (const leftover of (list.vms === null ? null : list.leftovers.found) ?? []) {
      const key = `${leftover.kind} ${leftover.id}`;
      if (!all.has(key)) all.set(key, { ...leftover, machineClass: list.name });
    }
  return [...all.values()];
}

const noneKept = (): Record<KeepReason, number> => ({ ProviderIdMatches: 0, BeingCreated: 0, OtherMachineHasIt: 0 });

/** A VM that several classes list, as they have the same marks, is judged once, for the first of them. */
function judgeAll(
  lists: readonly Listed[],
  machines: MachineIndex,
  elsewhere: readonly MachineIndex[],
  keeps: SweepKeeps,
  sweep: SweepConfig['sweep'],
): { classes: SweptClass[]; candidates: Candidate[]; listed: number } {
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  const classes = lists.map((list): SweptClass => {
    const { name, provider } = list;
    if (list.vms === null) return { name, provider, failure: list.failure };
    const kept = noneKept();
    let orphans = 0;
    for (const vm of list.vms) {
      const key = providerIdKey(vm.providerId);
      if (seen.has(key)) continue;
      seen.add(key);
      const judged = judgeVm(vm, machines, sweep, elsewhere);
      if (judged.verdict === 'keep') kept[judged.why] += 1;
      else {
        orphans += 1;
        candidates.push(candidateOf(vm, name, judged.why, keeps));
      }
    }
    return {
      name,
      provider,
      listed: list.vms.length,
      kept,
      orphans,
      leftovers: countOf(list.leftovers),
      failure: null,
    };
  });
  return { classes, candidates, listed: seen.size };
}

function candidateOf(
  { providerId, machineName, createdMs }: ListedVm,
  machineClass: string,
  why: Candidate['why'],
  keeps: SweepKeeps,
): Candidate {
  const { by, reason, at } = keeps.find(providerId) ?? {};
  const keptBy = by === undefined ? null : { by, reason: reason ?? '', at: at ?? '' };
  return { providerId, machineName, createdMs, machineClass, why, keptBy };
}
