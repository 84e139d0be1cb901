import { Option } from 'commander';
import { parseTimeout } from '../command/arguments.ts';
import type { Target } from './await-state.ts';
import type { CommandContext } from '../command/context.ts';
import type { HypervisorAccess } from './hypervisor-access.ts';
import { hypervisorAccess } from './hypervisor-access.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import type { HypervisorPlan } from './plan-maintenance.ts';
import { refused } from './plan-maintenance.ts';
import { interruptible } from '../command/interruption.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { isCurrent, lifecycleOf } from '../command/lifecycle-condition.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { whyNothingHappens } from '../command/lifecycle-mode.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { arrivalSource, applyPlan, showFirstStatus, signalRun, showState, waitFor } from './send-hypervisor.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import { withTemporal } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';
import { unknownHost } from './hypervisor-objects.ts';

/** Options that every command which sends a host somewhere has. */
export interface SendOptions {
  wait?: boolean;
  /** Milliseconds. */
  timeout: number;
  as?: string;
}

export const waitOption = (what: string): Option =>
  new Option('--wait', `wait until ${what}, with a line for each change`);
export const timeoutOption = (): Option =>
  new Option('--timeout <duration>', 'how long --wait waits: 90m, 4h, 1d')
    .argParser(parseTimeout)
    .default(4 * 3_600_000, '4h');

/** What a command works with. */
export interface Surroundings {
  context: CommandContext;
  temporal: TemporalAccess;
  kubernetes: KubernetesAccess;
  access: HypervisorAccess;
  terminal: Terminal;
  abort: AbortSignal;
}

export const withHypervisors = (
  context: CommandContext,
  use: (surroundings: Surroundings) => Promise<void>,
): Promise<void> =>
  interruptible(context, (abort) =>
    withTemporal(context, abort, (temporal) =>
      withKubernetes(temporal, (kubernetes) => {
        const access = hypervisorAccess(kubernetes);
        return use({ context, temporal, kubernetes, access, terminal: context.terminal, abort });
      }),
    ),
  );

/** @throws CommandError notFound, with the name that may have been meant */
export async function readKnown({ access }: Surroundings, host: string): Promise<HypervisorObject> {
  const hypervisor = await access.read(host);
  if (hypervisor !== null) return hypervisor;
  const { hypervisors, unreadable } = await access.list();
  throw unknownHost(host, [...hypervisors.map(({ name }) => name), ...unreadable], 'Nothing was changed.');
}

/** Refuses to wait for what will not happen; warns where the command does not wait. */
export async function tellMode(
  { context }: Surroundings,
  hypervisor: HypervisorObject | null,
  wait: boolean,
): Promise<{ acts: boolean }> {
  const why = whyNothingHappens('Hypervisor', await context.loadConfig(), hypervisor, context.env);
  if (why === null) return { acts: true };
  if (wait)
    throw refused(
      `There would be nothing to wait for: ${why}`,
      'Without --wait the object is changed for the operator that acts on it.',
    );
  context.terminal.remark(why);
  return { acts: false };
}

/**
 * Sends a host somewhere: decides by what it is now, writes that, signals its run, and shows what follows.
 *
 * @param decide is asked again where the object changes meanwhile
 */
export const sendHypervisor = (
  context: CommandContext,
  host: string,
  { wait = false, timeout }: SendOptions,
  by: string,
  target: Target,
  decide: (hypervisor: HypervisorObject) => HypervisorPlan,
): Promise<void> =>
  withHypervisors(context, async (surroundings) => {
    const { temporal, kubernetes, access, terminal, abort } = surroundings;
    const { acts } = await tellMode(surroundings, await readKnown(surroundings, host), wait);
    await refuseOtherCluster(temporal, kubernetes);
    const { before, after, plan } = await retryConflicts(async () => {
      const before = await readKnown(surroundings, host);
      const plan = decide(before);
      return { before, plan, after: await applyPlan(access, before, plan) };
    });
    // What follows from it, follows only where drover acts.
    for (const sentence of acts ? plan.says : plan.says.slice(0, 1)) terminal.print(sentence);
    if (!acts) return;
    // Where nothing was written, the word that should have started a run may be what was lost.
    const isOpen = plan.kind === 'change' || !isCurrent(after) || lifecycleOf(after)?.status === 'Unknown';
    const isSameSpec = before.generation === after.generation;
    if (isOpen) await signalRun(temporal, host, after, isSameSpec ? 'annotations' : 'spec', by);
    const source = arrivalSource(access, kubernetes, host);
    // A host that is on its way may say the same for long; only a refusal that is read again would end the wait.
    const isRefused = lifecycleOf(after)?.status === 'False';
    const unanswered = plan.kind === 'change' && isSameSpec && isRefused ? after : null;
    if (wait) return await waitFor(source, target, host, { timeoutMs: timeout, abort, context, unanswered });
    if (plan.kind === 'change') await showFirstStatus(source, after, { abort, context });
    else if (isOpen) showState(after, terminal);
  });
