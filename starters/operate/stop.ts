import { kinds } from '../../contracts/kinds/table.ts';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Config } from '../../runtime/config/config-schema.ts';
import { nearest } from '../../runtime/config/suggestion.ts';
import { readClusterUid } from '../../runtime/kubernetes/cluster-uid.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import type { Stop, StopScope } from '../../runtime/stop.ts';
import { describeStop, liftStops, readStops, setStop } from '../../runtime/stop.ts';
import { type HeldNames, readHeldNames } from '../../runtime/temporal/claim.ts';
import { parseReason } from '../command/arguments.ts';
import { asOption, describedCommand, jsonOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { CommandError, usageError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { formatTime } from '../render/duration.ts';
import { oneLine } from '../render/table.ts';
import { printJson } from '../command/terminal.ts';
import { whoRuns } from '../command/who.ts';

interface StopOptions {
  kind?: string;
  cluster?: string;
  region?: string;
  reason?: string;
  as?: string;
  lift?: boolean;
  show?: boolean;
  json?: boolean;
}

export const stopCommand = (context: CommandContext): Command =>
  describedCommand(
    'stop',
    'Holds drover back from every change, of everything or of a part, until it is lifted. It is kept in Kubernetes, so it outlives workers and restarts. What Nova is moving goes on; drover only watches it.',
    [
      ['drover stop --reason "storage is on fire"', 'everything, at once'],
      ['drover stop --region eu-1 --reason "network work"', 'one region'],
      ['drover stop --show', 'what is stopped, by whom and why'],
      ['drover stop --lift', 'lift every stop'],
      ['drover stop --lift --region eu-1', 'lift that one'],
    ],
  )
    .addOption(new Option('--kind <kind>', 'only this kind').choices(kinds))
    .option('--cluster <name>', 'only this cluster')
    .option('--region <name>', 'only this region of Nova')
    .option('--reason <text>', 'why, for those who find it stopped', parseReason)
    .addOption(new Option('--lift', 'lift the stop of that part, or every stop').conflicts(['show', 'reason']))
    .addOption(new Option('--show', 'show what is stopped').conflicts('reason'))
    .addOption(asOption())
    .addOption(jsonOption())
    .action((options: StopOptions) =>
      interruptible(context, async (abort) => {
        const request = stopRequest(options, whoRuns(options.as, context.env));
        const { config } = await context.loadConfig();
        await withKubernetes({ context, config, abort }, async (access) => {
          const namespace = config.kubernetes.systemNamespace;
          const kubernetes = await access.open();
          if (request.do === 'stop') await checkScope(request.stop, { context, config, kubernetes, abort });
          await obey(request, {
            context,
            kubernetes,
            namespace,
            abort,
            json: options.json ?? false,
          });
        });
      }),
    );

type StopRequest = { do: 'show' } | { do: 'lift'; scope: StopScope | 'every' } | { do: 'stop'; stop: Omit<Stop, 'at'> };

/** What the options ask for. @throws CommandError usage where they contradict each other */
export function stopRequest(
  { kind, cluster, region, reason, lift = false, show = false }: StopOptions,
  by: string,
): StopRequest {
  const scopes = Object.entries({ kind, cluster, region }).flatMap(([of, name]) =>
    name === undefined ? [] : [{ of: of as StopScope['of'], name }],
  );
  if (scopes.length > 1)
    throw usageError('--kind, --cluster and --region are stops of their own.', 'Give one of them at a time.');
  const [scope] = scopes;
  if (show) return { do: 'show' };
  if (lift) return { do: 'lift', scope: scope ?? 'every' };
  if (reason === undefined)
    throw usageError(
      'A stop needs a reason.',
      'Say it with --reason, for those who find drover stopped. `--show` and `--lift` need none.',
    );
  return { do: 'stop', stop: { ...(scope ?? { of: 'all', name: '' }), reason, by } };
}

/**
 * Refuses a cluster or a region whose workers do not read the stops of this Kubernetes cluster: a stop of a name that is
 * mistyped holds nothing. Where that cannot be read it stops all the same, as there may be no time to lose.
 */
async function checkScope(scope: StopScope, place: Checked): Promise<void> {
  if (scope.of !== 'cluster' && scope.of !== 'region') return;
  const held = await readHeld(place).catch((error: unknown) => {
    place.abort.throwIfAborted();
    place.context.terminal.remark(
      `Not checked whether there is a ${scope.of} ${scope.name} to stop: ${explainError(error).message}`,
    );
    return null;
  });
  if (held !== null) refuseUnknown(scope, held);
}

type Checked = Pick<Surroundings, 'context' | 'kubernetes' | 'abort'> & { config: Config };

async function readHeld({ context, config, kubernetes, abort }: Checked): Promise<HeldNames> {
  const limited = AbortSignal.any([abort, AbortSignal.timeout(checkTimeoutMs)]);
  const clusterUid = await readClusterUid(kubernetes, limited);
  const { client } = await context.openTemporal(config);
  try {
    return await readHeldNames(
      client,
      { cluster: config.cluster, clusterUid },
      { timeoutMs: checkTimeoutMs, clock: context.clock, abort },
    );
  } finally {
    await client.connection.close();
  }
}

const checkTimeoutMs = 5_000;

/** @throws CommandError notFound for a cluster or region that is not held, with the one that may have been meant */
export function refuseUnknown({ of, name }: StopScope, { clusters, regions }: HeldNames): void {
  if (of !== 'cluster' && of !== 'region') return;
  const known = (of === 'cluster' ? clusters : regions).filter((one) => one !== '');
  if (known.includes(name)) return;
  const candidate = nearest(name, known);
  const listed =
    known.length === 0
      ? `There is none that has a name; \`drover stop\` without --${of} stops everything.`
      : `Those there are: ${known.join(', ')}.`;
  throw new CommandError(
    `This Kubernetes cluster has no workers of the ${of} ${name}. Nothing was stopped.`,
    exitCodes.notFound,
    `${candidate === null ? '' : `Did you mean ${candidate}? `}${listed}`,
  );
}

interface Surroundings {
  context: CommandContext;
  kubernetes: Kubernetes;
  namespace: string;
  abort: AbortSignal;
  json: boolean;
}

async function obey(
  request: StopRequest,
  { context: { terminal, clock }, kubernetes, namespace, abort, json }: Surroundings,
): Promise<void> {
  switch (request.do) {
    case 'show': {
      const stops = await readStops(kubernetes, namespace, abort);
      if (json) return printJson(terminal, stops);
      if (stops.length === 0) return terminal.print('Nothing is stopped.');
      return stops.forEach((stop) => terminal.print(oneLine(describeStop(stop))));
    }
    case 'lift': {
      const lifted = await liftStops(kubernetes, namespace, request.scope, abort);
      // Said before anything else is asked for: it is so, whatever comes of that.
      if (json) printJson(terminal, lifted);
      else for (const stop of lifted) terminal.print(`Lifted: ${oneLine(describeStop(stop))}`);
      const left = await readStops(kubernetes, namespace, abort);
      for (const stop of left) terminal.remark(`Still in force: ${oneLine(describeStop(stop))}`);
      if (lifted.length > 0) return;
      if (request.scope !== 'every')
        throw new CommandError(
          `There is no stop of the ${request.scope.of} ${request.scope.name}. Nothing was lifted.`,
          exitCodes.notFound,
          '`drover stop --show` lists what is stopped.',
        );
      if (!json) terminal.print('Nothing was stopped.');
      return;
    }
    case 'stop': {
      const stop: Stop = { ...request.stop, at: formatTime(clock.now()) };
      await setStop(kubernetes, namespace, stop, abort);
      if (json) return printJson(terminal, stop);
      terminal.print(oneLine(describeStop(stop)));
      // Not checked as a name is: it holds at once, and without Temporal.
      if (stop.of === 'all' || stop.of === 'kind')
        terminal.remark(
          `It holds the drover of the Kubernetes cluster at ${oneLine(kubernetes.server)}, and no other.`,
        );
      terminal.remark(
        'drover changes nothing there until `drover stop --lift`. What is moving now goes on; `drover ls` shows it.',
      );
    }
  }
}
