import type { Command } from 'commander';
import type { Consent } from '../../contracts/eviction/eviction.ts';
import { evictionId } from '../../contracts/ids.ts';
import { asSignal, type CancelEviction, messages } from '../../contracts/messages.ts';
import {
  collectConsents,
  collectObstacles,
  parseInstance,
  parseParallelism,
  parseReason,
} from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError, usageError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { commandRun, commandRunOf, giveCommand, notRunning } from '../command/give-command.ts';
import { interruptible } from '../command/interruption.ts';
import { type KubernetesAccess, withKubernetes } from '../command/kubernetes-access.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { askProgress, findRunOf } from '../command/runs.ts';
import { answered, isRunning, type TemporalAccess, withTemporal } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';
import { formatTime } from '../render/duration.ts';
import { servedEviction } from './eviction-description.ts';
import type { EvictionObject } from './eviction-objects.ts';
import {
  annotateEviction,
  consentAnnotations,
  refuseDeleted,
  type Revival,
  reviveEviction,
  tellRevival,
} from './revive-eviction.ts';
import { signalChange } from './start-eviction.ts';

export const pauseCommand = (context: CommandContext): Command =>
  describedCommand(
    'pause',
    'Starts no further moves of a running eviction. What is moving ends; the host stays disabled.',
    [
      ['drover pause node-1', 'hold it'],
      ['drover pause node-1 --reason "network work until noon"', 'and say why, for those who find it paused'],
      ['drover resume node-1', 'go on'],
    ],
  )
    .addArgument(hostArgument())
    .option('--reason <text>', 'why, for other users', parseReason)
    .addOption(asOption())
    .action((host: string, { reason, as }: { reason?: string; as?: string }) =>
      giveCommand(context, host, messages.pause, {
        by: whoRuns(as, context.env),
        ...(reason !== undefined && { reason }),
      }),
    );

export const resumeCommand = (context: CommandContext): Command =>
  describedCommand('resume', 'Lets a paused eviction go on.', [['drover resume node-1', 'go on']])
    .addArgument(hostArgument())
    .addOption(asOption())
    .action((host: string, { as }: { as?: string }) =>
      giveCommand(context, host, messages.resume, { by: whoRuns(as, context.env) }),
    );

export const skipCommand = (context: CommandContext): Command =>
  describedCommand(
    'skip',
    'Leaves one instance where it is. The host then does not count as empty; `drover retry` takes it up again.',
    [
      ['drover skip node-1 web-3', 'go on without it'],
      ['drover skip node-1 web-3 --reason "its owner moves it"', 'and say why'],
    ],
  )
    .addArgument(hostArgument())
    .argument('<instance>', 'name or id of the server', parseInstance)
    .option('--reason <text>', 'why, for other users', parseReason)
    .addOption(asOption())
    .action((host: string, instance: string, { reason, as }: { reason?: string; as?: string }) =>
      giveCommand(context, host, messages.skipInstance, {
        instance,
        by: whoRuns(as, context.env),
        ...(reason !== undefined && { reason }),
      }),
    );

export const parallelismCommand = (context: CommandContext): Command =>
  describedCommand(
    'parallelism',
    'Sets how many instances of the host may move at once. What moves already is never aborted for it.',
    [
      ['drover parallelism node-1 4', 'four at once, as far as the region allows'],
      ['drover parallelism node-1 1', 'one after the other'],
    ],
  )
    .addArgument(hostArgument())
    .argument('<number>', '1 to 64', parseParallelism)
    .addOption(asOption())
    .action((host: string, parallelism: number, { as }: { as?: string }) =>
      giveCommand(context, host, messages.setParallelism, {
        parallelism,
        by: whoRuns(as, context.env),
      }),
    );

export const cancelCommand = (context: CommandContext): Command =>
  describedCommand(
    'cancel',
    'Stops an eviction in good order: nothing more starts, what is moving finishes, and the Eviction says how far it came. Nothing starts it again but `drover retry`.',
    [
      ['drover cancel node-1', 'let what is moving finish; the host stays disabled'],
      ['drover cancel node-1 --abort', 'abort the live migrations in flight: their instances stay'],
      ['drover cancel node-1 --re-enable', 'and give the host back to the scheduler'],
    ],
  )
    .addArgument(hostArgument())
    .option('--abort', 'abort live migrations in flight; cold migrations run to their end')
    .option('--re-enable', 'enable the host again, if it was drover that disabled it')
    .addOption(asOption())
    .action(
      (host: string, { abort = false, reEnable = false, as }: { abort?: boolean; reEnable?: boolean; as?: string }) =>
        interruptible(context, (interrupted) =>
          withTemporal(context, interrupted, async (access) => {
            const { terminal, env } = context;
            terminal.print(await cancelEviction(access, host, { abort, reEnable, by: whoRuns(as, env) }));
            terminal.remark(`Follow it to its end: drover watch ${host}`);
          }),
        ),
    );

/** The answer is only for the person: the cancel itself needs no worker. */
const answerMs = 5_000;

/**
 * Stops the Eviction that is served now, and no other. One that has stopped lets the next of the host be served at
 * once, by a run of the same id: a word that is late would stop that. So all words go to the run that was found open.
 *
 * A run also continues as new by itself, as it grows old, and then serves the same Eviction: it is followed there. What
 * it was told before that goes with it, so only one that was told nothing has to be. It is known by its phase: one that
 * went on for the next Eviction was Stopped.
 *
 * @returns what the run answered, or what will be
 * @throws CommandError notFound where no run is open, or it has stopped meanwhile
 */
export async function cancelEviction(access: TemporalAccess, host: string, cancel: CancelEviction): Promise<string> {
  const workflowId = evictionId(host, access.config.cluster);
  for (;;) {
    const run = await findRunOf(access, workflowId);
    if (run?.status !== 'running') throw notRunning(host);
    const { runId } = run;
    try {
      return await cancelRun(access, host, runId, cancel);
    } catch (error) {
      if (explainError(error).exitCode !== exitCodes.notFound) throw error;
      const since = await findRunOf(access, workflowId, runId);
      if (since?.status !== 'continued') throw notRunning(host, error);
      if (since.phase === 'Stopped') throw stoppedAlready(host, error);
    }
  }
}

const stoppedAlready = (host: string, cause: unknown): CommandError =>
  new CommandError(
    `That eviction of ${host} had stopped already. The next one was left as it is.`,
    exitCodes.notFound,
    `\`drover describe ${host}\` shows it; once more, \`drover cancel ${host}\` stops it.`,
    cause,
  );

/**
 * Says how to stop and then cancels the run, so that it closes as cancelled. Both reach it whenever a worker comes.
 *
 * @throws CommandError notFound where it has closed before it was told
 */
async function cancelRun(access: TemporalAccess, host: string, runId: string, cancel: CancelEviction): Promise<string> {
  const workflowId = evictionId(host, access.config.cluster);
  const handle = access.client.workflow.getHandle(workflowId, runId);
  const command = { workflowId, runId, command: messages.cancelEviction, argument: cancel };
  const answer = await commandRunOf(access, host, { ...command, timeoutMs: answerMs, absent: notRunning }).catch(
    async (error: unknown) => {
      if (explainError(error).exitCode !== exitCodes.unreachable) throw error;
      // No worker answers now; a signal is kept for the one that comes.
      await answered(access, () => handle.signal(asSignal(messages.cancelEviction), cancel));
      return 'No worker answers now. The eviction stops as soon as one does.';
    },
  );
  await answered(access, () => handle.cancel()).catch((error: unknown) => {
    // It was quick, and has stopped already; or has gone on as new, and stops as it was told.
    if (explainError(error).exitCode !== exitCodes.notFound) throw error;
  });
  return answer;
}

export const acceptCommand = (context: CommandContext): Command =>
  describedCommand(
    'accept',
    'Accepts what stands in the way, with your name. An eviction that was refused for it is started again.',
    [
      ['drover accept node-1 LocalDisk/5f0a-…', 'one obstacle of one instance; `drover describe node-1` lists them'],
      ['drover accept node-1 NoTargets CapacityShort', 'obstacles of the host'],
      ['drover accept node-1 --consent cold-migrate', 'let drover stop instances that cannot move live'],
    ],
  )
    .addArgument(hostArgument())
    .argument('[obstacles...]', 'ids of obstacles', collectObstacles)
    .option('--consent <what>', 'cold-migrate, force-complete', collectConsents)
    .addOption(asOption())
    .action(
      (host: string, obstacles: string[] | undefined, { consent = [], as }: { consent?: Consent[]; as?: string }) => {
        const accept = obstacles ?? [];
        if (accept.length + consent.length === 0)
          throw usageError(
            'Say what you accept.',
            `\`drover describe ${host}\` lists the obstacles; --consent takes cold-migrate and force-complete.`,
          );
        return interruptible(context, (abort) =>
          withTemporal(context, abort, (temporal) =>
            withKubernetes(temporal, (kubernetes) =>
              acceptAll(temporal, kubernetes, host, { accept, consent, by: whoRuns(as, context.env) }),
            ),
          ),
        );
      },
    );

async function acceptAll(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
  revival: Revival,
): Promise<void> {
  if (await isRunning(temporal, evictionId(host, temporal.config.cluster)))
    return await acceptInRun(temporal, kubernetes, host, revival);
  const eviction = await reviveEviction(temporal, kubernetes, host, revival);
  temporal.context.terminal.print(
    `Accepted ${[...revival.accept, ...revival.consent].join(', ')}, by ${revival.by}. Eviction ${eviction.name} of ${host} is tried again.`,
  );
  await tellRevival(temporal, kubernetes, eviction);
}

/** Obstacles are the run's to know, consent is the Eviction's to record. */
export async function acceptInRun(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
  { accept, consent, by }: Revival,
): Promise<void> {
  const { terminal, clock } = temporal.context;
  // Both first: what is refused leaves all as it is.
  if (consent.length > 0) await refuseOtherCluster(temporal, kubernetes);
  const eviction = consent.length === 0 ? null : await findServed(temporal, kubernetes, host);
  for (const obstacle of accept)
    terminal.print(await commandRun(temporal, host, messages.acceptObstacle, { obstacle, by }));
  if (eviction === null) return;
  const changed = await annotateEviction(kubernetes, eviction, (current) => {
    // The obstacles are accepted.
    if (current.reconciled) throw hasEnded(host, 'The consent was not recorded.');
    return consentAnnotations(current, { accept: [], consent, by }, formatTime(clock.now()));
  });
  await signalChange(temporal, changed, 'annotations', by);
  terminal.print(`Eviction ${eviction.name} records the consent of ${by}: ${consent.join(', ')}.`);
}

/** @throws CommandError refused where it is not known which Eviction the run serves, or that is to be let go */
async function findServed(
  temporal: TemporalAccess,
  kubernetes: KubernetesAccess,
  host: string,
): Promise<EvictionObject> {
  const [progress, evictions] = await Promise.all([
    askProgress(temporal, { workflowId: evictionId(host, temporal.config.cluster) }),
    kubernetes.evictions(),
  ]);
  const ofHost = evictions.filter((object) => object.host === host);
  const eviction = servedEviction(ofHost, progress?.eviction ?? null);
  if (eviction === null)
    throw ofHost.some(({ reconciled }) => !reconciled)
      ? notRecorded(host, `Which Eviction of ${host} its run serves is not known now.`)
      : hasEnded(host);
  refuseDeleted(eviction);
  return eviction;
}

const hasEnded = (host: string, lost?: string): CommandError =>
  notRecorded(host, `The eviction of ${host} has ended.`, lost);

const notRecorded = (host: string, why: string, lost = 'Nothing was recorded.'): CommandError =>
  new CommandError(
    `${why} ${lost}`,
    exitCodes.refused,
    `Try again in a moment; \`drover describe ${host}\` shows its state.`,
  );
