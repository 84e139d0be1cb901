import type { Command } from 'commander';
import { describedCommand, hostArgument, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodeOfEnding } from '../command/exit-codes.ts';
import type { FollowView } from './follow.ts';
import { follow } from './follow.ts';
import { followSource } from './follow-source.ts';
import { jsonView, liveView, plainView } from './follow-views.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { withTemporal } from '../command/temporal-access.ts';

export const watchIntervalMs = 1_000;

export const watchCommand = (context: CommandContext): Command =>
  describedCommand(
    'watch',
    'Follows the eviction of a host until it ends: a live table on a terminal, else a line per change. Ctrl-C ends the watching, not the eviction.',
    [
      ['drover watch node-1', 'a table that is redrawn in place'],
      ['drover watch node-1 | tee node-1.log', 'a line for each thing that happens'],
      ['drover watch node-1 --json', 'JSON lines, for programs'],
      ['drover watch node-1 && ssh node-1 reboot', 'go on only when the host is empty'],
    ],
  )
    .addArgument(hostArgument())
    .addOption(jsonOption().default(false))
    .action((host: string, { json }: { json: boolean }) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, (temporal) =>
          withKubernetes(temporal, async (kubernetes) => {
            const source = followSource(temporal, kubernetes, host);
            const { clock } = context;
            const ending = await follow(source, chooseView(context, json), {
              intervalMs: watchIntervalMs,
              clock,
              abort,
            });
            context.exitCode = exitCodeOfEnding(ending.outcome);
          }),
        ),
      ),
    );

export function chooseView({ terminal, clock }: CommandContext, json: boolean): FollowView {
  if (json) return jsonView(terminal, clock);
  return terminal.isInteractive ? liveView(terminal, clock) : plainView(terminal, clock);
}
