import type { Command } from 'commander';
import type { AbandonDisks } from '../../contracts/messages.ts';
import { messages } from '../../contracts/messages.ts';
import { parseId, parseInstance } from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { commandFailureRun } from './failure-run.ts';
import { interruptible } from '../command/interruption.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';

export const abandonDisksCommand = (context: CommandContext): Command =>
  describedCommand(
    'abandon-disks',
    'Gives up what lies on a dead host’s own disks of the servers that you name, so that they are started elsewhere with these disks made anew, empty or from their image. Without that word they stay on the host until it is mended. All of them, or none where one is refused. It cannot be taken back once a server is on its way.',
    [
      ['drover abandon-disks node-1 web-3 --incident node-1/2026-01-31T03:00:00.000Z', 'one server'],
      ['drover abandon-disks node-1 web-3 db-1 --incident node-1/2026-01-31T03:00:00.000Z', 'and another'],
    ],
  )
    .addArgument(hostArgument())
    .argument('<instance...>', 'names or ids of the servers', (text: string, before: string[] | undefined) => [
      ...(before ?? []),
      parseInstance(text),
    ])
    .requiredOption('--incident <id>', 'the failure that is meant, as `drover describe` shows it', parseId)
    .addOption(asOption())
    .action((host: string, instances: string[], { incident, as }: { incident: string; as?: string }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, async (temporal) => {
          const abandoned = { incident, instances, person: whoRuns(as, context.env) } satisfies AbandonDisks;
          context.terminal.print(await commandFailureRun(temporal, host, messages.abandonDisks, abandoned));
        }),
      ),
    );
