import { virtualMachineId } from '../../../contracts/ids.ts';
import { readVirtualMachine as readDesired } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import type { ObjectFacts, VirtualMachineRead } from '../../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineInput } from '../../../contracts/virtual-machine/lifecycle.ts';
import { readVirtualMachineObjects } from './read-objects.ts';
import type { VirtualMachineTools } from './dependencies.ts';
import { readVirtualMachineInput } from '../../lib/input.ts';

/**
 * The VirtualMachine, and what it names.
 *
 * @throws InvalidInput what was typed by hand is no input; AnswerMalformed names the field of the VirtualMachine; what the client throws
 */
export async function readVirtualMachine(
  tools: VirtualMachineTools,
  input: VirtualMachineInput,
): Promise<VirtualMachineRead> {
  const { client, scope, settings } = tools;
  const { namespace, name, startedBy, mode } = readVirtualMachineInput(input);
  if (settings === null)
    return {
      next: 'nothing',
      message: `VirtualMachines are switched off in drover’s settings (modes.VirtualMachine); ${namespace}/${name} is left as it is`,
    };
  const workflowId = virtualMachineId(namespace, name, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name }, startedBy ?? null);
    return { next: 'handedOver', workflowId };
  }
  const own = mode === 'observe' ? { ...settings, mode } : settings;
  const object = await client.getVirtualMachine({ namespace, name }, scope.signal);
  if (object === null) return { next: 'run', settings: own, desired: null, recorded: {}, objects: nothing };
  const desired = readDesired(object);
  const objects = await readVirtualMachineObjects({ ...tools, settings: own, signal: scope.signal }, object, desired);
  return { next: 'run', settings: own, desired, recorded: object.status ?? {}, objects };
}

const nothing: ObjectFacts = {
  class: null,
  image: null,
  resourcePolicy: null,
  storageClass: null,
  bootstrap: null,
  isos: {},
  networks: [],
  imageCache: null,
  group: null,
  snapshots: { inProgress: null, problem: null },
};
