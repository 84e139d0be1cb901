import { virtualMachineId } from '../../../contracts/ids.ts';
import { digestOfRead } from '../../../contracts/kinds/digest.ts';
import { virtualMachineKind } from '../../../contracts/kinds/virtual-machine.ts';
import type { ObservedObjects, VirtualMachineRead } from '../../../contracts/virtual-machine/activities.ts';
import type { VirtualMachineInput } from '../../../contracts/virtual-machine/lifecycle.ts';
import { readVirtualMachine as readDesired } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { readVirtualMachineInput } from '../../lib/input.ts';
import { recordReads } from '../lib/record-reads.ts';
import type { VirtualMachineTools } from './dependencies.ts';
import { readVirtualMachineObjects } from './read-objects.ts';

/**
 * The VirtualMachine, and what it names.
 *
 * @throws InvalidInput what was typed by hand is no input; AnswerMalformed names the field of the VirtualMachine; what
 * the client throws
 */
export async function readVirtualMachine(
  tools: VirtualMachineTools,
  input: VirtualMachineInput,
): Promise<VirtualMachineRead> {
  const { client, scope, settings } = tools;
  const { namespace, name, startedBy, mode } = readVirtualMachineInput(input);
  if (settings === null)
    return {
      kind: 'nothing',
      message: `VirtualMachines are switched off in drover’s settings (modes.VirtualMachine); ${namespace}/${name} is left as it is`,
    };
  const workflowId = virtualMachineId(namespace, name, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name }, startedBy ?? null);
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${namespace}/${name}` };
  }
  const object = await client.get(resources.VirtualMachine, { namespace, name }, scope.signal);
  const desired = object === null ? null : readDesired(object);
  const own = mode === 'observe' || desired?.mode === 'observe' ? { ...settings, mode: 'observe' as const } : settings;
  if (object === null || desired === null)
    return {
      kind: 'observed',
      settings: own,
      digest: null,
      desired: null,
      retry: null,
      observed: { recorded: {}, objects: nothing },
    };
  const { client: recording, read, secrets } = recordReads(client);
  const objects = await readVirtualMachineObjects(
    { ...tools, client: recording, settings: own, signal: scope.signal },
    object,
    desired,
  );
  const watch = {
    copiedLabels: [],
    imageCacheNamespace: settings.fastDeploy === null ? null : tools.imageCacheNamespace,
    groups: settings.groups,
  };
  return {
    kind: 'observed',
    settings: own,
    digest: digestOfRead(virtualMachineKind, object, read, watch, secrets),
    desired,
    retry: desired.retry,
    observed: { recorded: object.status ?? {}, objects },
  };
}

const nothing: ObservedObjects = {
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
  volumes: null,
};
