import { Option } from 'commander';
import type { Command } from 'commander';
import type { Consent, EvictionCause } from '../../contracts/eviction/eviction.ts';
import { evictionCauses } from '../../contracts/eviction/eviction.ts';
import {
  collectConsents,
  collectObstacles,
  parseCause,
  parseDeadline,
  parseFromNow,
  parseParallelism,
  parseReason,
} from '../command/arguments.ts';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodeOfEnding } from '../command/exit-codes.ts';
import { chooseView, follow, followSource, quietView, watchIntervalMs } from './follow.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { startEviction, tellBeginning } from './start-eviction.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { whoRuns } from '../command/who.ts';

interface EvictOptions {
  reason: string;
  cause?: EvictionCause;
  deadline?: { at: string; fromNowMs: number | null };
  parallelism?: number;
  reEnable?: boolean;
  accept?: string[];
  consent?: Consent[];
  observe?: boolean;
  wait?: boolean;
  watch?: boolean;
  as?: string;
}

export const evictCommand = (context: CommandContext): Command =>
  describedCommand(
    'evict',
    'Empties a host: disables its compute service and moves its instances, one by one or a few at a time. An Eviction of that host says how it goes.',
    [
      ['drover evict node-1 --reason "broken DIMM"', 'start it, and see what the preflight finds'],
      [
        'drover evict node-1 --reason "firmware" --cause rolling-update --watch',
        'and follow it until the host is empty',
      ],
      [
        'drover evict node-1 --reason "lease ends" --cause decommission --deadline 4h',
        'the largest first, with the time in sight',
      ],
      ['drover evict node-1 --reason "what if" --observe', 'plan, and change nothing'],
      [
        'drover evict node-1 --reason "old" --consent cold-migrate --accept LocalDisk/5f0a',
        'consent to what drover would not do by itself',
      ],
      ['drover evict node-1 --reason "kernel" --wait && ssh node-1 reboot', 'in a script'],
    ],
  )
    .addArgument(hostArgument())
    .requiredOption('--reason <text>', 'why, for other users', parseReason)
    .option(
      '--cause <cause>',
      `decides about obstacles and enabling again: ${evictionCauses.join(', ')} (default: admin)`,
      parseCause,
    )
    .option('--deadline <time>', 'when the host must be empty: an RFC 3339 time, or 90m, 4h, 1d from now', (text) => ({
      at: parseDeadline(text, context.clock.now()),
      fromNowMs: parseFromNow(text),
    }))
    .option('--parallelism <number>', 'how many instances may move at once', parseParallelism)
    .option('--re-enable', 'enable the host again afterwards, whatever the cause')
    .option('--no-re-enable', 'leave it disabled, whatever the cause')
    .option('--accept <obstacles>', 'obstacles that you accept: ids, separated by commas', collectObstacles)
    .option(
      '--consent <what>',
      'cold-migrate: stop instances that cannot move live; force-complete: let Nova pause those that do not converge',
      collectConsents,
    )
    .option('--observe', 'plan and publish, change nothing')
    .addOption(
      new Option('--wait', 'wait for the end, or in a rolling update until the host is empty').conflicts('watch'),
    )
    .option('--watch', 'follow it so long, as `drover watch` does')
    .addOption(asOption())
    .action((host: string, options: EvictOptions, command: Command) =>
      interruptible(context, (abort) =>
        withTemporal(context, abort, (temporal) =>
          withKubernetes(temporal, async (kubernetes) => {
            const { wait = false, watch = false, as, reEnable, deadline, ...asked } = options;
            // commander gives a pair of --x and --no-x the default true; here neither means: as the cause says.
            const decided = command.getOptionValueSource('reEnable') === 'cli' ? { reEnable: reEnable ?? true } : {};
            const { terminal, clock, env } = context;
            const { observe = false } = options;
            const until = {
              ...(deadline !== undefined && { deadline: deadline.at }),
              ...(typeof deadline?.fromNowMs === 'number' && { deadlineFromNowMs: deadline.fromNowMs }),
            };
            await startEviction(temporal, kubernetes, { host, by: whoRuns(as, env), ...decided, ...until, ...asked });
            const source = followSource(temporal, kubernetes, host);
            if (!wait && !watch) return await tellBeginning(source, temporal, { host, observe });
            const view = watch ? chooseView(context, false) : quietView(terminal);
            const { ending } = await follow(source, view, { intervalMs: watchIntervalMs, clock, abort });
            context.exitCode = exitCodeOfEnding(ending.outcome, { observe });
          }),
        ),
      ),
    );
