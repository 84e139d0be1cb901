import type { Config } from '../../runtime/config/config-schema.ts';
import type { CommandContext } from '../command/context.ts';
import { explainError } from '../command/explain-error.ts';
import { findHoldingStops } from '../operate/holding-stops.ts';
import { interruptible } from '../command/interruption.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { withKubernetes } from '../command/kubernetes-access.ts';
import { renderVirtualMachine } from '../render/virtual-machine.ts';
import { findRun } from '../command/object-run.ts';
import type { VirtualMachineProgress } from '../../contracts/virtual-machine/observation.ts';
import { printJson } from '../command/terminal.ts';
import { type ObjectReference, onlyOneNamed, unknownObject } from '../command/object-reference.ts';
import type { VirtualMachineAccess } from './virtual-machine-access.ts';
import { listForSuggestion, virtualMachineAccess } from './virtual-machine-access.ts';
import type { VirtualMachineDescription } from './virtual-machine-description.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';

/** `drover describe vm`. Kubernetes and Temporal each do without the other. */
export const describeVirtualMachine = (
  context: CommandContext,
  reference: ObjectReference,
  json: boolean,
): Promise<void> =>
  interruptible(context, async (abort) => {
    const { terminal, clock } = context;
    const { config } = await context.loadConfig();
    await withKubernetes({ context, config, abort }, async (kubernetes) => {
      const description = await gather({ context, config, abort }, kubernetes, reference);
      if (json) return printJson(terminal, description);
      const lines = renderVirtualMachine(description, clock.now(), terminal.paint, terminal.widthColumns());
      for (const line of lines) terminal.print(line);
    });
  });

interface Asking {
  context: CommandContext;
  config: Config;
  abort: AbortSignal;
}

async function gather(
  asking: Asking,
  kubernetes: KubernetesAccess,
  reference: ObjectReference,
): Promise<VirtualMachineDescription> {
  const { context, abort } = asking;
  const access = virtualMachineAccess(kubernetes);
  const { namespace, name, object, problem } = await find(access, reference, abort);
  const [{ run, problem: ofRun }, stops] = await Promise.all([
    findRun<VirtualMachineProgress>(context, 'VirtualMachine', { namespace, name }, abort),
    findHoldingStops(kubernetes, asking, ['VirtualMachine']),
  ]);
  if (object === null && problem === null && run === null)
    throw unknownObject('vm', { namespace, name }, await listForSuggestion(access, abort));
  return {
    namespace,
    name,
    object,
    run,
    stops: stops.sentences,
    problems: [problem, ofRun, stops.problem].filter((sentence) => sentence !== null),
  };
}

interface Found {
  namespace: string;
  name: string;
  object: VirtualMachineObject | null;
  problem: string | null;
}

/** With its namespace given, its run can be described without Kubernetes, and after its object is gone. */
async function find(
  access: VirtualMachineAccess,
  { namespace, name }: ObjectReference,
  abort: AbortSignal,
): Promise<Found> {
  if (namespace === null) {
    const object = onlyOneNamed('vm', name, (await access.list(null)).machines);
    return { namespace: object.namespace, name, object, problem: null };
  }
  try {
    return { namespace, name, object: await access.read(namespace, name), problem: null };
  } catch (error) {
    abort.throwIfAborted();
    return { namespace, name, object: null, problem: explainError(error).message };
  }
}
