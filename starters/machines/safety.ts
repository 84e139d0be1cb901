import { type Command, Option } from 'commander';
import pMap from 'p-map';
import type { MachineSet } from '../../contracts/crds/machine-set.ts';
import { apiServerSafetyId } from '../../contracts/ids.ts';
import type { SafetyRun } from '../../contracts/machine-safety/judge-freeze.ts';
import type { Config } from '../../runtime/config/config-schema.ts';
import { resources } from '../../runtime/kubernetes/resources.ts';
import { readSafetyRun } from '../../runtime/temporal/read-freeze.ts';

import { describedCommand, jsonOption, outputOption } from '../command/command.ts';
import type { CommandContext } from '../command/context.ts';
import { usageError } from '../command/error.ts';
import { explainError } from '../command/explain-error.ts';
import { interruptible } from '../command/interruption.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { answerTimeoutMs, withTemporal } from '../command/temporal-access.ts';
import { printJson } from '../command/terminal.ts';
import { renderSafety } from '../render/safety.ts';
import { parseNamespace } from '../command/object-reference.ts';
import { describeSafety } from './listed-safety.ts';

interface SafetyOptions {
  namespace?: string;
  json?: boolean;
  output?: 'json';
}

export const safetyCommand = (context: CommandContext): Command =>
  describedCommand(
    'safety',
    'Says whether Machines are frozen as an API server does not answer, since when and why, and which MachineSets are frozen as they have too many Machines. What is not known counts as frozen.',
    [
      ['drover safety', 'all namespaces of machines.namespaces'],
      ['drover safety -n shoot--team--one', 'one of them'],
      [`drover safety --json | jq -e 'all(.state == "thawed")'`, 'for programs'],
    ],
  )
    .addOption(new Option('-n, --namespace <namespace>', 'of the Machines').argParser(parseNamespace))
    .addOption(jsonOption())
    .addOption(outputOption())
    .action(({ namespace, json = false, output }: SafetyOptions) =>
      interruptible(context, async (abort) => {
        const { terminal, clock } = context;
        const { config } = await context.loadConfig();
        const { apiServers, namespaces } = config.machines;
        const asked = namespace === undefined ? namespaces : [namespace];
        const isJson = json || output === 'json';
        // An empty answer would be taken for one in which all are thawed.
        if (asked.length === 0)
          throw usageError(
            'drover’s settings name no namespace of Machines (machines.namespaces).',
            'Say which one with --namespace, or name the settings that do: DROVER_CONFIG.',
          );
        const [runs, { sets, problem }] = await Promise.all([
          readRuns(context, asked, abort),
          readSets({ context, config, abort }, asked),
        ]);
        const nowMs = clock.now();
        const listed = asked.map((name) =>
          describeSafety(name, runs.get(name) ?? none, sets.get(name) ?? null, apiServers, nowMs),
        );
        if (isJson) printJson(terminal, listed);
        else
          for (const line of renderSafety(listed, nowMs, terminal.paint, terminal.widthColumns())) terminal.print(line);
        if (config.modes.Machine === 'off')
          terminal.remark('modes.Machine is off: nothing probes, and nothing is swept.');
        if (problem !== null) terminal.remark(`Which MachineSets are frozen is not shown: ${problem}`);
      }),
    );

const none: SafetyRun = { status: 'missing', decided: null, beat: null };
const questionsAtOnce = 8;

const readRuns = (
  context: CommandContext,
  namespaces: readonly string[],
  abort: AbortSignal,
): Promise<Map<string, SafetyRun>> =>
  withTemporal(context, abort, async ({ client, config }) => {
    const limits = { timeoutMs: answerTimeoutMs, clock: context.clock, abort };
    const read = async (namespace: string) =>
      [namespace, await readSafetyRun(client, apiServerSafetyId(namespace, config.cluster), limits)] as const;
    return new Map(await pMap(namespaces, read, { concurrency: questionsAtOnce }));
  });

/** A freeze is shown without kube-apiserver, too: that is when it matters most. */
async function readSets(
  access: { context: CommandContext; config: Config; abort: AbortSignal },
  namespaces: readonly string[],
): Promise<{ sets: Map<string, MachineSet[]>; problem: string | null }> {
  const sets = new Map<string, MachineSet[]>();
  try {
    await withKubernetes(access, async (kubernetes) => {
      const read = async (namespace: string): Promise<void> =>
        void sets.set(namespace, (await kubernetes.list(resources.MachineSet, namespace)).found);
      await pMap(namespaces, read, { concurrency: questionsAtOnce });
    });
    return { sets, problem: null };
  } catch (error) {
    access.abort.throwIfAborted();
    return { sets, problem: explainError(error).message };
  }
}
