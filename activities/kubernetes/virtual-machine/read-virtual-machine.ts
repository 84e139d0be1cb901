import { virtualMachineId } from '../../../contracts/ids.ts';
import { digestOfRead, type ReadObject, type SecretVersion } from '../../../contracts/kinds/digest.ts';
import type { KubeObject } from '../../../contracts/kinds/object.ts';
import {
  virtualMachineClass,
  virtualMachineGroup,
  virtualMachineImageCache,
} from '../../../contracts/kinds/resources.ts';
import { resourcePolicyKind } from '../../../contracts/kinds/virtual-machine-set-resource-policy.ts';
import { virtualMachineKind } from '../../../contracts/kinds/virtual-machine.ts';
import type { VirtualMachineClient } from './client.ts';
import { readVirtualMachine as readDesired } from '../../../contracts/virtual-machine/read-virtual-machine.ts';
import type { ObservedObjects, VirtualMachineRead } from '../../../contracts/virtual-machine/activities.ts';
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
      kind: 'nothing',
      message: `VirtualMachines are switched off in drover’s settings (modes.VirtualMachine); ${namespace}/${name} is left as it is`,
    };
  const workflowId = virtualMachineId(namespace, name, settings.cluster);
  if (scope.run !== null && scope.run.workflowId !== workflowId) {
    await tools.signalWithStart({ namespace, name }, startedBy ?? null);
    return { kind: 'handedOver', message: `Run ${workflowId} drives ${namespace}/${name}` };
  }
  const object = await client.getVirtualMachine({ namespace, name }, scope.signal);
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

/** The same client, and what is read by it from now on. */
function recordReads(client: VirtualMachineClient) {
  const read: ReadObject[] = [];
  const secrets: SecretVersion[] = [];
  const note =
    <Args extends unknown[], Found extends KubeObject>(
      kind: string,
      get: (...args: Args) => Promise<Found | null>,
    ): ((...args: Args) => Promise<Found | null>) =>
    async (...args) => {
      const object = await get(...args);
      if (object !== null) read.push({ kind, object });
      return object;
    };
  const recording: VirtualMachineClient = {
    ...client,
    getClass: note(virtualMachineClass.kind, (...args) => client.getClass(...args)),
    getPolicy: note(resourcePolicyKind.kind, (...args) => client.getPolicy(...args)),
    getGroup: note(virtualMachineGroup.kind, (...args) => client.getGroup(...args)),
    getImageCache: note(virtualMachineImageCache.kind, (...args) => client.getImageCache(...args)),
    getImage: (kind, ...args) => note(kind, () => client.getImage(kind, ...args))(),
    async getSecret(key, signal) {
      const found = await client.getSecret(key, signal);
      if (found !== null)
        secrets.push({ fullName: `${key.namespace}/${key.name}`, resourceVersion: found.resourceVersion });
      return found;
    },
  };
  return { client: recording, read, secrets };
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
};
