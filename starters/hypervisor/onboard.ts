import type { Command } from 'commander';
import { asOption, describedCommand, hostArgument } from '../command/command.ts';
import type { SendOptions, Surroundings } from './command-hypervisor.ts';
import { readKnown, tellMode, timeoutOption, waitOption, withHypervisors } from './command-hypervisor.ts';
import type { Target } from './await-state.ts';
import type { CommandContext } from '../command/context.ts';
import { exitCodes } from '../command/exit-codes.ts';
import { explainError } from '../command/explain-error.ts';
import type { HypervisorObject, SpeakingNode } from './hypervisor-objects.ts';
import type { OnboardPlan } from './plan-onboard.ts';
import { planOnboard } from './plan-onboard.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { retryConflicts } from '../../runtime/kubernetes/retry-conflicts.ts';
import { arrivalSource, applyPlan, showFirstStatus, signalRun, waitFor } from './send-hypervisor.ts';
import { whoRuns } from '../command/who.ts';

interface OnboardOptions extends SendOptions {
  skipTests?: boolean;
}

export const onboardCommand = (context: CommandContext): Command =>
  describedCommand(
    'onboard',
    'Lets drover bring a host into service: registered, kept off guests, tested, put into its aggregates, enabled. Set where it holds: on the Node where its label speaks of that, else in the Hypervisor.',
    [
      ['drover onboard node-1', 'and see how it begins'],
      ['drover onboard node-1 --wait', 'until it is in service'],
      ['drover onboard node-1 --skip-tests', 'without its tests'],
    ],
  )
    .addArgument(hostArgument())
    .option('--skip-tests', 'bring it into service without testing it')
    .option('--no-skip-tests', 'test it, whatever was said before')
    .addOption(waitOption('it is in service'))
    .addOption(timeoutOption())
    .addOption(asOption())
    .action((host: string, options: OnboardOptions, command: Command) => {
      // commander gives a pair of --x and --no-x the default true; here neither means: as it is.
      const skipTests = command.getOptionValueSource('skipTests') === 'cli' ? options.skipTests : undefined;
      return withHypervisors(context, (surroundings) => onboard(surroundings, host, options, skipTests));
    });

async function onboard(
  surroundings: Surroundings,
  host: string,
  { wait = false, timeout, as }: OnboardOptions,
  skipTests: boolean | undefined,
): Promise<void> {
  const { context, temporal, kubernetes, access, terminal, abort } = surroundings;
  const by = whoRuns(as, context.env);
  const { acts } = await tellMode(surroundings, await access.read(host), wait);
  await refuseOtherCluster(temporal, kubernetes);
  const { hypervisor, changed, plan } = await retryConflicts(async () => {
    const [before, node] = [await access.read(host), await readNode(surroundings, host)];
    const plan = planOnboard(before, node, skipTests);
    // Neither: the list of known hosts shows what may have been meant.
    if (plan === null) return { hypervisor: await readKnown(surroundings, host), changed: null, plan: null };
    return { ...(await write(surroundings, before, node, plan)), plan };
  });
  if (plan === null) return;
  for (const sentence of acts ? plan.says : plan.says.slice(0, 1)) terminal.print(sentence);
  if (!acts) return;
  if (changed !== null) await signalRun(temporal, host, changed, plan.kind === 'label' ? 'labels' : 'spec', by);
  const source = arrivalSource(access, kubernetes, host);
  if (wait) {
    const options = { timeoutMs: timeout, abort, context, unanswered: null };
    return await waitFor(source, inService(skipTests), host, options);
  }
  if (plan.kind !== 'nothing' && hypervisor !== null)
    return await showFirstStatus(source, hypervisor, { abort, context });
  terminal.remark(`\`drover describe ${host}\` shows its state.`);
}

/** `changed`: the object whose change the run is signalled about. */
async function write(
  { access }: Surroundings,
  before: HypervisorObject | null,
  node: SpeakingNode | null,
  plan: OnboardPlan,
): Promise<{
  hypervisor: HypervisorObject | null;
  changed: { uid: string; generation: number; resourceVersion: string } | null;
}> {
  if (plan.kind === 'label')
    return { hypervisor: before, changed: { generation: 0, ...(await access.labelNode(plan.node, plan.value)) } };
  if (before === null) return { hypervisor: null, changed: node === null ? null : { generation: 0, ...node } };
  const hypervisor = await applyPlan(access, before, plan);
  return { hypervisor, changed: hypervisor };
}

/** A person may be allowed to change Hypervisors and not to see Nodes: then the spec is what can be set. */
async function readNode({ access, terminal }: Surroundings, host: string): Promise<SpeakingNode | null> {
  try {
    return await access.readNode(host);
  } catch (error) {
    const { exitCode, message } = explainError(error);
    if (exitCode !== exitCodes.refused) throw error;
    terminal.remark(`Whether its Node speaks of the lifecycle is not known: ${message}`);
    return null;
  }
}

const inService = (skipTests: boolean | undefined): Target => ({
  state: 'Active',
  // drover takes over from the Node what its label says, and makes the Hypervisor.
  asked: (hypervisor) =>
    hypervisor?.lifecycleEnabled === true && (skipTests === undefined || hypervisor.skipTests === skipTests)
      ? 'yes'
      : 'not yet',
});
