import type { Command } from 'commander';
import type { RetryInstance } from '../contracts/messages.ts';
import { messages } from '../contracts/messages.ts';
import { parseInstance } from './arguments.ts';
import { asOption, describedCommand, hostArgument } from './command.ts';
import { exitCodes } from './exit-codes.ts';
import { explainError } from './explain-error.ts';
import { followSource } from './follow-source.ts';
import { commandRun, giveCommand } from './give-command.ts';
import { interruptible } from './interruption.ts';
import { withKubernetes } from './kubernetes-access.ts';
import { reviveEviction } from './revive-eviction.ts';
import { tellBeginning } from './tell-beginning.ts';
import type { TemporalAccess } from './temporal-access.ts';
import { isRunning, withTemporal } from './temporal-access.ts';
import { systemTerminal } from './terminal.ts';
import { whoRuns } from './who.ts';

export const retryCommand = (): Command =>
  describedCommand('retry', 'Tries again: one instance that did not move, a run that waits for a system to come back, or an eviction that failed or was stopped.', [
    ['drover retry node-1', 'start a failed or stopped eviction again, or end a back-off'],
    ['drover retry node-1 web-3', 'try this instance again, in the eviction that runs'],
  ])
    .addArgument(hostArgument())
    .argument('[instance]', 'name or id of the server', parseInstance)
    .addOption(asOption())
    .action((host: string, instance: string | undefined, { as }: { as?: string }) =>
      instance === undefined ? retryEviction(host, whoRuns(as)) : giveCommand(host, messages.retryInstance, { instance, by: whoRuns(as) } satisfies RetryInstance),
    );

const retryEviction = (host: string, by: string): Promise<void> =>
  interruptible((abort) =>
    withTemporal(abort, async (temporal) => {
      const terminal = systemTerminal();
      const answer = await retryRun(temporal, host, by);
      if (answer !== null) return terminal.print(answer);
      await withKubernetes(temporal.config, abort, async (kubernetes) => {
        const { name } = await reviveEviction(temporal, kubernetes, host, { accept: [], consent: [], by });
        terminal.print(`Eviction ${name} of ${host} is tried again.`);
        await tellBeginning(followSource(temporal, kubernetes, host), temporal, host, terminal);
      });
    }),
  );

/** What the running eviction answers; null when none runs, or it has come to its end and lingers. */
async function retryRun(temporal: TemporalAccess, host: string, by: string): Promise<string | null> {
  if (!(await isRunning(temporal, host))) return null;
  return await commandRun(temporal, host, messages.retryNow, { by }).catch((error: unknown) => {
    if (explainError(error).exitCode === exitCodes.refused || explainError(error).exitCode === exitCodes.notFound) return null;
    throw error;
  });
}
