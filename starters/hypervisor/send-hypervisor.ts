import { kindTable } from '../../contracts/kinds/table.ts';
import { signalWithStart } from '../../runtime/temporal/signal-runs.ts';
import type { ArrivalSource, Target } from './await-state.ts';
import { awaitArrival } from './await-state.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { awaitFirstStatus } from '../command/first-status.ts';
import { formatDuration, formatTime } from '../render/duration.ts';
import type { HypervisorAccess } from './hypervisor-access.ts';
import { hypervisorCommands } from './hypervisor-commands.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import type { HypervisorPlan } from './plan-maintenance.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { describeLifecycle, isCurrent } from '../command/lifecycle-condition.ts';
import type { NextCommand } from '../command/next-commands.ts';
import { renderNextCommands } from '../render/table.ts';
import type { TemporalAccess } from '../command/temporal-access.ts';
import type { Terminal } from '../command/terminal.ts';

/** Writes what was decided, on the version that it was decided on. Returns the object as it is then. */
export const applyPlan = (
  access: HypervisorAccess,
  hypervisor: HypervisorObject,
  plan: HypervisorPlan,
): Promise<HypervisorObject> =>
  plan.kind === 'change' ? access.patch(hypervisor, plan.change) : Promise.resolve(hypervisor);

/**
 * Signals the run of the host that something changed, starting it if none is open. The bridge does the same; twice does
 * no harm.
 */
export const signalRun = (
  { context: { clock }, client, config }: TemporalAccess,
  hypervisor: string,
  { uid, generation, resourceVersion }: { uid: string; generation: number; resourceVersion: string },
  cause: string,
  by: string,
): Promise<string> => {
  const signal = { uid, generation, resourceVersion, cause };
  const target = { subject: hypervisor, cluster: config.cluster, startedBy: by };
  return signalWithStart(client, kindTable.Hypervisor, { ...target, signal }, { clock });
};

export const arrivalSource = (access: HypervisorAccess, kubernetes: KubernetesAccess, host: string): ArrivalSource => ({
  hypervisor: () => access.read(host),
  eviction: async () =>
    (await kubernetes.evictions()).find((object) => object.host === host && !object.reconciled) ?? null,
});

const waitIntervalMs = 2_000;

/**
 * Waits for the host to arrive, with a line for each change, and sets the exit code: 1 where it is blocked or the time
 * is over.
 *
 * @param unanswered as it was changed without a new generation: what is said of it then is of before, until it changes
 */
export async function waitFor(
  source: ArrivalSource,
  target: Target,
  host: string,
  {
    timeoutMs,
    abort,
    context,
    unanswered,
  }: { timeoutMs: number; abort: AbortSignal; context: CommandContext; unanswered: HypervisorObject | null },
): Promise<void> {
  const { terminal, clock } = context;
  const show = (message: string): void => terminal.remark(`${formatTime(clock.now())} ${message}`);
  const untilMs = clock.now() + timeoutMs;
  if (unanswered !== null) {
    // Whether kube-apiserver is away is told of the wait for its arrival.
    const read = (): Promise<HypervisorObject | null> => source.hypervisor().catch(() => null);
    const { isChanged } = await awaitFirstStatus(read, unanswered, { clock, abort });
    if (!isChanged) terminal.remark(noWord);
  }
  const { kind, message } = await awaitArrival(source, target, {
    intervalMs: waitIntervalMs,
    untilMs,
    clock,
    abort,
    show,
  });
  if (kind === 'reached') return terminal.print(terminal.paint('good', message));
  context.exitCode = exitCodes.failed;
  terminal.print(
    terminal.paint(
      'bad',
      kind === 'elsewhere'
        ? message
        : `Not ${target.state} after ${formatDuration(timeoutMs)}, and still on its way: ${message}`,
    ),
  );
  const hypervisor = await source.hypervisor().catch(() => null);
  if (hypervisor !== null) showCommands(hypervisor, terminal);
  else terminal.remark(`\`drover describe ${host}\` shows its state.`);
}

/** Shows the first status after a change, and what to type next. */
export async function showFirstStatus(
  source: ArrivalSource,
  before: HypervisorObject,
  { abort, context: { terminal, clock } }: { abort: AbortSignal; context: CommandContext },
): Promise<void> {
  const { latest, isChanged } = await awaitFirstStatus(() => source.hypervisor(), before, { clock, abort });
  if (isChanged) return showState(latest, terminal);
  terminal.remark(noWord);
  showCommands(latest, terminal, [
    { command: 'drover doctor', why: 'see whether the bridge and the workers are there' },
  ]);
}

const noWord =
  'No run has said anything of it yet: `drover describe` shows when one has, `drover doctor` whether the bridge and the workers are there.';

/** Shows the state of a host, and what to type next. */
export function showState(hypervisor: HypervisorObject, terminal: Terminal): void {
  if (isCurrent(hypervisor)) terminal.print(describeLifecycle(hypervisor));
  else terminal.remark(noWord);
  showCommands(hypervisor, terminal);
}

function showCommands(
  hypervisor: HypervisorObject,
  terminal: Terminal,
  commands: readonly NextCommand[] = hypervisorCommands(hypervisor),
): void {
  for (const line of renderNextCommands(
    [{ command: `drover describe ${hypervisor.name}`, why: 'its state, and what it waits for' }, ...commands],
    terminal.paint,
  ))
    terminal.remark(line);
}
