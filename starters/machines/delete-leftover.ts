import type { Command } from 'commander';

import { orphanSweepId } from '../../contracts/ids.ts';
import type {
  AnsweredLeftover,
  AskedLeftover,
  FoundLeftover,
  SweepReport,
} from '../../contracts/machine-safety/sweep.ts';
import { parseId } from '../command/arguments.ts';
import { asOption, describedCommand } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { interruptible } from '../command/interruption.ts';
import { withTemporal, type TemporalAccess } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';
import { formatTime } from '../render/duration.ts';
import { oneLine } from '../render/table.ts';
import { namespaceOf, namespaceOption } from './machine-namespace.ts';
import { askForLeftover, followSweep, readSweep, type SweepView } from './read-sweep.ts';

export const deleteLeftoverCommand = (context: CommandContext): Command =>
  describedCommand(
    'delete-leftover',
    'Deletes a port or a volume that a create has left without a VM, and that the last sweep has listed. The sweep looks at it once more: it stays where a VM has it by now, where it has lost a mark of its class, and while the API servers are frozen. Nothing deletes it otherwise.',
    [
      ['drover sweep ls', 'what is left over'],
      ['drover sweep delete-leftover 7f5e0d5e-3c1b-4d0c-9f1e-0b7c1b7a2f11', 'by its id'],
    ],
  )
    .argument('<id>', 'id of the leftover, as `drover sweep ls` shows it', parseId)
    .addOption(namespaceOption())
    .addOption(asOption())
    .action((id: string, options: { namespace?: string; as?: string }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, async (access) => {
          const { terminal, clock, env } = context;
          const namespace = namespaceOf(access.config, options.namespace);
          const workflowId = orphanSweepId(namespace, access.config.cluster);
          const last = await readSweep(access, namespace, { workflowId });
          const { machineClass, kind } = findLeftover(id, last?.report ?? null);
          const asked = { machineClass, kind, id, by: whoRuns(options.as, env), at: formatTime(clock.now()) };
          const { outcome, message } = await deleteLeftover(access, namespace, asked);
          if (outcome === 'kept')
            throw new CommandError(
              `${kind} ${id} was not deleted: ${oneLine(message)}`,
              exitCodes.refused,
              '`drover sweep ls` shows what is left over.',
            );
          terminal.print(oneLine(`${message} (${id}).`));
        }),
      ),
    );

/** Which one is meant. Pure. @throws CommandError notFound */
export function findLeftover(id: string, report: Pick<SweepReport, 'leftovers'> | null): FoundLeftover {
  const found = report?.leftovers.find((leftover) => leftover.id === id);
  if (found !== undefined) return found;
  throw new CommandError(
    `"${id.slice(0, 80)}" is none of the leftovers that the last sweep has listed.`,
    exitCodes.notFound,
    '`drover sweep ls` lists them; `drover sweep` looks for them now.',
  );
}

/** Asks, and follows the run until it has answered. @throws CommandError where it ends, or waits, without */
async function deleteLeftover(
  access: TemporalAccess,
  namespace: string,
  asked: AskedLeftover,
): Promise<AnsweredLeftover> {
  const { terminal } = access.context;
  const run = await askForLeftover(access, namespace, asked);
  const answerIn = ({ report }: SweepView): AnsweredLeftover | undefined =>
    report?.answeredLeftovers.findLast((one) => isAnswerTo(asked, one));
  const view = await followSweep(
    access,
    namespace,
    run,
    (message) => terminal.remark(oneLine(message)),
    (seen) => answerIn(seen) !== undefined,
  );
  const answer = answerIn(view);
  if (answer !== undefined) return answer;
  const leftover = `${asked.kind} ${asked.id}`;
  throw view.outcome === null
    ? new CommandError(
        `The sweep has not deleted ${leftover} yet: ${oneLine(view.message)}`,
        exitCodes.failed,
        'It goes on by itself, and deletes it then: `drover sweep ls` shows what is left over.',
      )
    : new CommandError(`The sweep ended without deleting ${leftover}: ${oneLine(view.message)}`, exitCodes.failed);
}

const isAnswerTo = (asked: AskedLeftover, { kind, id, by, at }: AnsweredLeftover): boolean =>
  kind === asked.kind && id === asked.id && by === asked.by && at === asked.at;
