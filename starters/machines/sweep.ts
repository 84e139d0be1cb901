import { type Command, Option } from 'commander';

import { orphanSweepId } from '../../contracts/ids.ts';
import { messages } from '../../contracts/messages.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import { liftKeep, readKeeps, setKeep, type SweepKeep } from '../../runtime/sweep-keeps.ts';
import { parseId, parseReason } from '../command/arguments.ts';
import { asOption, describedCommand, jsonOption, outputOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError } from '../command/error.ts';
import { type ExitCode, exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { updateRun } from '../command/give-command.ts';
import { interruptible } from '../command/interruption.ts';
import { type KubernetesAccess, withKubernetes } from '../command/kubernetes-access.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';
import { whoRuns } from '../command/who.ts';
import { formatTime } from '../render/duration.ts';
import { oneLine } from '../render/table.ts';
import { renderKeeps, renderSweep } from '../render/sweep.ts';
import { deleteLeftoverCommand } from './delete-leftover.ts';
import { findProviderId } from './kept-vm.ts';
import { namespaceOf, namespaceOption } from './machine-namespace.ts';
import { beginSweep, followSweep, readSweep, type SweepView } from './read-sweep.ts';

interface CommonOptions {
  namespace?: string;
  as?: string;
  json?: boolean;
  output?: 'json';
}

const isJson = ({ json = false, output }: CommonOptions): boolean => json || output === 'json';

export const sweepCommand = (context: CommandContext): Command =>
  describedCommand(
    'sweep',
    'Sweeps the orphan VMs of the Machines of a namespace now: those that belong to no Machine, and that no gate holds back, are deleted. drover does so by itself every quarter of an hour. Follows it until it ends or waits: for an approval, or for another attempt.',
    [
      ['drover sweep --dry-run', 'say what would be deleted, and what holds back the rest'],
      ['drover sweep -n shoot--garden--one', 'sweep'],
      ['drover sweep ls', 'what the last sweep has found, what holds each orphan, and what users keep'],
      ['drover sweep keep worker-7 --reason "forensics"', 'whatever a sweep finds, leave that VM alone'],
      ['drover sweep keep worker-7 --lift', 'do so no longer'],
      ['drover sweep approve --reason "the pool was removed"', 'delete the many that a sweep holds back now'],
      ['drover sweep delete-leftover 7f5e0d5e-3c1b-4d0c-9f1e-0b7c1b7a2f11', 'delete a port or a volume without a VM'],
    ],
  )
    .addOption(namespaceOption())
    .option('--dry-run', 'delete nothing')
    .addOption(asOption())
    .addOption(jsonOption())
    .addOption(outputOption())
    .action((options: CommonOptions & { dryRun?: boolean }) => sweep(context, options))
    .addCommand(lsCommand(context))
    .addCommand(keepCommand(context))
    .addCommand(approveCommand(context))
    .addCommand(deleteLeftoverCommand(context));

const sweep = (context: CommandContext, options: CommonOptions & { dryRun?: boolean }): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, async (access) => {
      const { terminal, clock } = context;
      const namespace = namespaceOf(access.config, options.namespace);
      const { dryRun = false } = options;
      const run = await beginSweep(access, namespace, { dryRun, by: whoRuns(options.as, context.env) });
      const view = await followSweep(access, namespace, run, (message) => terminal.remark(oneLine(message)));
      if (isJson(options)) printJson(terminal, view);
      else for (const line of renderSweep(view, clock.now(), terminal.widthColumns())) terminal.print(line);
      if (view.outcome === null) terminal.remark('It goes on by itself: `drover sweep ls` shows how far it is.');
      context.exitCode = exitCodeOfSweep(view.outcome, dryRun);
    }),
  );

/** That nothing was deleted is what was wanted of a dry run alone: a worker that only observes does it to any. */
export const exitCodeOfSweep = (outcome: SweepView['outcome'], dryRun: boolean): ExitCode =>
  outcome === 'reconciled' || (outcome === 'observed' && dryRun) ? exitCodes.ok : exitCodes.failed;

const lsCommand = (context: CommandContext): Command =>
  describedCommand(
    'ls',
    'Shows what the last sweep has found, which gate holds back each orphan, what creates have left without a VM, and which VMs users keep.',
    [
      ['drover sweep ls', 'of the only namespace'],
      [`drover sweep ls --json | jq -r '.sweep.report.candidates[].providerId'`, 'for programs'],
    ],
  )
    .addOption(namespaceOption())
    .addOption(jsonOption())
    .addOption(outputOption())
    .action((options: CommonOptions) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, async (access) => {
          const { terminal, clock } = context;
          const { config } = access;
          const namespace = namespaceOf(config, options.namespace);
          const found = await readSweep(access, namespace, { workflowId: orphanSweepId(namespace, config.cluster) });
          const keeps = await readAll(context, config, abort);
          if (isJson(options)) return printJson(terminal, { sweep: found, keeps: keeps.all });
          if (found === null) terminal.print(`Temporal knows of no sweep of ${namespace}.`);
          else for (const line of renderSweep(found, clock.now(), terminal.widthColumns())) terminal.print(line);
          for (const line of renderKeeps(keeps.all ?? [], terminal.widthColumns())) terminal.print(line);
          if (keeps.problem !== null) terminal.remark(`What users keep cannot be read: ${keeps.problem}`);
        }),
      ),
    );

/** What was found is worth showing without. */
async function readAll(
  context: CommandContext,
  config: Config,
  abort: AbortSignal,
): Promise<{ all: readonly SweepKeep[] | null; problem: string | null }> {
  try {
    return await withKubernetes({ context, config, abort }, async (access) => {
      const objects = openObjects(await access.open());
      return { all: (await readKeeps(objects, config.kubernetes.systemNamespace, abort)).all, problem: null };
    });
  } catch (error) {
    abort.throwIfAborted();
    return { all: null, problem: explainError(error).message };
  }
}

const keepCommand = (context: CommandContext): Command =>
  describedCommand(
    'keep',
    'Keeps a VM, whatever a sweep finds, until that is lifted. It is kept in Kubernetes, and read once more right before each deletion.',
    [
      ['drover sweep keep worker-7 --reason "forensics"', 'by the name of an orphan'],
      ['drover sweep keep vsphere://eu-1/4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11', 'by the id of any VM'],
      ['drover sweep keep worker-7 --lift', 'no longer'],
    ],
  )
    .argument('<id>', 'id of the VM as Machines have it, or name of an orphan', parseId)
    .addOption(namespaceOption())
    .option('--reason <text>', 'why, for those who find it', parseReason)
    .addOption(new Option('--lift', 'keep it no longer').conflicts('reason'))
    .addOption(asOption())
    .addOption(jsonOption())
    .addOption(outputOption())
    .action((id: string, options: CommonOptions & { reason?: string; lift?: boolean }) =>
      interruptible(context, async (abort) => {
        const { terminal, clock } = context;
        const { config } = await context.loadConfig();
        const { systemNamespace } = config.kubernetes;
        await withKubernetes({ context, config, abort }, async (access) => {
          const kubernetes = await access.open();
          const objects = openObjects(kubernetes);
          // A whole id asks no Temporal, so nothing else says whose sweeps heed it.
          const sweeps = `sweeps of the Kubernetes cluster at ${oneLine(kubernetes.server)}`;
          const tell = (kept: SweepKeep | null, sentence: string): void => {
            if (!isJson(options)) return terminal.print(sentence);
            printJson(terminal, kept);
            terminal.remark(sentence);
          };
          if (options.lift === true) {
            const { all } = await readKeeps(objects, systemNamespace, abort);
            const providerId = all.some((keep) => keep.providerId === id)
              ? id
              : await idOf(access, context, id, options, abort);
            const lifted = await liftKeep(objects, systemNamespace, providerId, abort);
            return tell(
              lifted,
              lifted === null
                ? `${providerId} was not kept from ${sweeps}.`
                : `${providerId} is kept no longer from ${sweeps}; the next one judges it.`,
            );
          }
          const keep: SweepKeep = {
            providerId: await idOf(access, context, id, options, abort),
            by: whoRuns(options.as, context.env),
            reason: options.reason ?? '',
            at: formatTime(clock.now()),
          };
          await setKeep(objects, systemNamespace, keep, abort);
          tell(
            keep,
            `${keep.providerId} is kept from ${sweeps}, whatever they find, until \`drover sweep keep ${keep.providerId} --lift\`.`,
          );
        });
      }),
    );

/** Temporal is asked only where the id is not whole: its sweep must be one of the cluster that keeps the VM. */
async function idOf(
  kubernetes: KubernetesAccess,
  context: CommandContext,
  text: string,
  { namespace }: CommonOptions,
  abort: AbortSignal,
): Promise<string> {
  try {
    return findProviderId(text, null);
  } catch {
    return await withTemporal(context, abort, async (access) => {
      const of = namespaceOf(access.config, namespace);
      await refuseOtherCluster(access, kubernetes);
      const found = await readSweep(access, of, { workflowId: orphanSweepId(of, access.config.cluster) });
      return findProviderId(text, found?.report ?? null);
    });
  }
}

const approveCommand = (context: CommandContext): Command =>
  describedCommand(
    'approve',
    'Lets the many orphans go that a sweep holds back as they are many, or as there are no Machines. It is of those that are held back now: what comes later needs another approval. Look at `drover sweep ls` first.',
    [['drover sweep approve --reason "the pool was removed"', 'delete them']],
  )
    .addOption(namespaceOption())
    .option('--reason <text>', 'why, for those who ask', parseReason)
    .addOption(asOption())
    .action((options: CommonOptions & { reason?: string }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, async (access) => {
          const namespace = namespaceOf(access.config, options.namespace);
          const { reason } = options;
          const argument = { by: whoRuns(options.as, context.env), ...(reason !== undefined && { reason }) };
          const workflowId = orphanSweepId(namespace, access.config.cluster);
          try {
            context.terminal.print(await updateRun(access, workflowId, messages.approve, argument));
          } catch (error) {
            abort.throwIfAborted();
            throw approvalProblem(namespace, error);
          }
        }),
      ),
    );

function approvalProblem(namespace: string, error: unknown): CommandError {
  const explained = explainError(error);
  if (explained.exitCode === exitCodes.notFound)
    return new CommandError(
      `No sweep of ${namespace} is running. Nothing was approved.`,
      exitCodes.notFound,
      '`drover sweep` starts one, which asks; `drover sweep ls` shows the last.',
      error,
    );
  // The run refuses what cannot be approved now: it was good input to a run in another state.
  if (explained.exitCode === exitCodes.usage)
    return new CommandError(explained.message, exitCodes.refused, '`drover sweep ls` shows its state.', error);
  return explained;
}
