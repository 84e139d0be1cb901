import { orphanSweepId, workflowTypes } from '../../contracts/ids.ts';
import { providerIdKey, readProviderId } from '../../contracts/machine-safety/provider-id.ts';
import type { Check } from './objects.ts';
import type { AuditLine, ObservedRun, Snapshot } from './snapshot.ts';

/** VMs and servers that drover has deleted as orphans of Machines. */
interface Deletion {
  providerId: string;
  /** What drover says of it, or what its provider was asked. */
  evidence: string;
  /** When it was certainly under way. */
  atMs: number;
}

const vmPrefix = 'machine-vm/';

const deletionLines = ({ audit }: Pick<Snapshot, 'audit'>): AuditLine[] =>
  audit.filter(({ action }) => action === 'deleteOrphan');

const vmOf = ({ object }: AuditLine): string => object.replace(vmPrefix, '');

/** An attempt without an answer may have deleted it; one that was refused has not. */
const mayHaveHappened = ({ after }: AuditLine): boolean => {
  const { failed, unanswered = false } = Object(after) as { failed?: string; unanswered?: boolean };
  return failed === undefined || unanswered;
};

/** By the audit log, and by what Nova was asked: a worker that was killed has not written its line. */
const deletionsOf = (world: Snapshot): Deletion[] => [
  ...deletionLines(world)
    .filter(mayHaveHappened)
    .map((line) => ({ providerId: vmOf(line), evidence: line.cause, atMs: Date.parse(line.time) })),
  ...world.novaCalls.flatMap(({ method, path, status, timeMs, requestId, userAgent }): Deletion[] => {
    const id = /\/servers\/([^/]+)$/u.exec(path)?.[1];
    if (method !== 'DELETE' || id === undefined || status >= 300 || userAgent !== 'drover') return [];
    return [{ providerId: `openstack:////${id}`, evidence: `request ${requestId}`, atMs: timeMs }];
  }),
];

/** 22: what a Machine names by its id is never deleted, where no setting asks for the replaced manager's chart. */
export const machinesKeepTheirVms: Check = (world) => {
  if (!world.sweepGates.renamedAreKept) return [];
  const found = deletionsOf(world).flatMap(({ providerId, evidence, atMs }) => {
    const key = providerIdKey(providerId);
    const holder = world.machines.find(
      (machine) =>
        providerIdKey(machine.providerId) === key && machine.fromMs <= atMs && atMs < (machine.untilMs ?? Infinity),
    );
    return holder === undefined
      ? []
      : [`${readProviderId(providerId)?.id ?? providerId} of Machine ${holder.name} was deleted (${evidence})`];
  });
  return [...new Set(found)];
};

/** A deletion as its run has asked for it, from when to when it can have been decided. */
interface Asked extends Deletion {
  namespace: string;
  askedMs: number;
}

function askedDeletions(world: Snapshot): Asked[] {
  return deletionLines(world)
    .filter(mayHaveHappened)
    .flatMap((line): Asked[] => {
      const run = world.runs.find(({ runId }) => runId === line.run?.runId);
      const namespace = namespaceOf(run);
      if (run === undefined || namespace === null) return [];
      const atMs = Date.parse(line.time);
      const asked = run.safety.findLast(
        (fact) => fact.what === 'deletes' && fact.providerId === vmOf(line) && fact.atMs <= atMs,
      );
      const providerId = vmOf(line);
      return [{ providerId, evidence: line.cause, namespace, atMs, askedMs: asked?.atMs ?? run.startedAtMs }];
    });
}

function namespaceOf(run: ObservedRun | undefined): string | null {
  const { namespace } = Object(run?.input) as { namespace?: unknown };
  return typeof namespace === 'string' ? namespace : null;
}

/** One answer of Temporal's serves deletions for as long. */
const rememberedMs = 1_000;

/**
 * 23: no orphan is deleted while Machines are frozen, or that is not known: at some moment of the deletion the run of
 * API-server safety was open, and the last that it had decided was that they are not frozen.
 */
export const frozenMachinesStay: Check = (world) =>
  world.sweepGates.frozen
    ? askedDeletions(world).flatMap(({ providerId, namespace, askedMs, atMs }) =>
        thawedTimes(world, namespace).some(({ fromMs, untilMs }) => fromMs <= atMs && untilMs >= askedMs - rememberedMs)
          ? []
          : [
              `${providerId} was deleted at ${new Date(atMs).toISOString()}, while Machines of ${namespace} were frozen, or not known to be thawed`,
            ],
      )
    : [];

function thawedTimes({ runs }: Snapshot, namespace: string): { fromMs: number; untilMs: number }[] {
  return runs
    .filter((run) => run.type === workflowTypes.watchApiServers && namespaceOf(run) === namespace)
    .flatMap(({ safety, closedAtMs }) => {
      const decided = safety.filter((fact) => fact.what === 'decides');
      return decided.flatMap(({ frozen, atMs }, index) =>
        frozen ? [] : [{ fromMs: atMs, untilMs: decided[index + 1]?.atMs ?? closedAtMs ?? Infinity }],
      );
    });
}

/** 24: an orphan is deleted once, for a reason that is written down, by the one run that may. */
export const orphansGoOnce: Check = (world) => {
  const done = deletionLines(world).filter(({ after }) => !Object.hasOwn(Object(after) as object, 'failed'));
  const again = [...Map.groupBy(done, (line) => providerIdKey(vmOf(line)))]
    .filter(([, lines]) => lines.length > 1)
    .map(([, lines]) => `${vmOf(lines[0]!)} was deleted ${lines.length} times`);
  const amiss = deletionLines(world).flatMap((line) => {
    const id = line.run?.workflowId ?? 'no run';
    const namespace = namespaceOf(world.runs.find(({ runId }) => runId === line.run?.runId));
    const isLock = namespace === null || id === orphanSweepId(namespace) || id.endsWith(`/${orphanSweepId(namespace)}`);
    return [
      ...(/^(?:MachineMissing|ProviderIdDiffers): \S/u.test(line.cause)
        ? []
        : [`${vmOf(line)} was deleted for no reason that is known: ${line.cause || 'none'}`]),
      ...(line.run !== null && isLock ? [] : [`${vmOf(line)} was deleted by ${id}, which may not`]),
    ];
  });
  return [...again, ...amiss];
};
