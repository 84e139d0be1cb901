import type { Command } from 'commander';

import type { Paint } from '../render/paint.ts';
import { jsonOption, outputOption } from './command.ts';
import type { CommandContext } from './context.ts';
import { interruptible } from './interruption.ts';
import { type KubernetesAccess, withKubernetes } from './kubernetes-access.ts';
import { namespaceOption, type Noun, nouns } from './object-reference.ts';
import { printJson } from './terminal.ts';

/** What every list of objects can be asked for. */
export interface ListOptions {
  namespace?: string;
  attention?: boolean;
  json?: boolean;
  output?: 'json';
}

/** A list of objects that need a user or do not, as lines and as JSON. */
export interface Listing<One, Row extends { needsAttention: boolean }, Options extends ListOptions> {
  noun: Noun;
  list: (
    kubernetes: KubernetesAccess,
    namespace: string | null,
    abort: AbortSignal,
  ) => Promise<{ found: One[]; unreadable: string[] }>;
  /** What is shown of them, in the order in which it is. */
  rows: (objects: readonly One[], options: Options, nowMs: number) => Row[];
  render: (rows: readonly Row[], nowMs: number, paint: Paint, widthColumns: number) => string[];
}

/** Has the command list them. Options of its own come before. */
export const listing = <One, Row extends { needsAttention: boolean }, Options extends ListOptions = ListOptions>(
  context: CommandContext,
  command: Command,
  what: Listing<One, Row, Options>,
): Command =>
  command
    .addOption(namespaceOption(nouns[what.noun].kind).conflicts('allNamespaces'))
    .option('-A, --all-namespaces', 'those of every namespace; so it is where none is named')
    .option('--attention', 'only those that need attention')
    .addOption(jsonOption())
    .addOption(outputOption())
    .action((options: Options) => listObjects(context, what, options));

const listObjects = <One, Row extends { needsAttention: boolean }, Options extends ListOptions>(
  context: CommandContext,
  { noun, list, rows, render }: Listing<One, Row, Options>,
  options: Options,
): Promise<void> =>
  interruptible(context, async (abort) => {
    const { terminal, clock } = context;
    const { config } = await context.loadConfig();
    const { kind } = nouns[noun];
    const namespace = options.namespace ?? null;
    await withKubernetes({ context, config, abort }, async (kubernetes) => {
      const { found, unreadable } = await list(kubernetes, namespace, abort);
      const nowMs = clock.now();
      const listed = rows(found, options, nowMs);
      if (options.json === true || options.output === 'json') printJson(terminal, listed);
      else if (found.length === 0) {
        // Those that are not shown are there.
        if (unreadable.length === 0)
          terminal.print(`There is no ${kind}${namespace === null ? '' : ` in ${namespace}`}.`);
      } else {
        const lines =
          listed.length === 0 ? [`No ${kind} is so.`] : render(listed, nowMs, terminal.paint, terminal.widthColumns());
        for (const line of lines) terminal.print(line);
        const inNeed = listed.filter(({ needsAttention }) => needsAttention).length;
        if (inNeed > 0)
          terminal.remark(
            `${String(inNeed)} of ${String(found.length)} ${inNeed === 1 ? 'needs' : 'need'} attention: \`drover describe ${noun} NAMESPACE/NAME\` shows what can be done.`,
          );
      }
      if (unreadable.length > 0) terminal.remark(`Not as their schema says, and not shown: ${unreadable.join(', ')}.`);
    });
  });

const inOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

interface Listed {
  namespace: string;
  name: string;
  needsAttention: boolean;
}

/** Those that need attention first, each part in the natural order of its names. */
export const byNeed = (a: Listed, b: Listed): number =>
  Number(b.needsAttention) - Number(a.needsAttention) || inOrder(a.namespace, b.namespace) || inOrder(a.name, b.name);
