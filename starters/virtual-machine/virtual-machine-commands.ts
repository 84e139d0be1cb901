import { findCondition } from '../../contracts/conditions.ts';
import { virtualMachineConditions as types } from '../../contracts/virtual-machine/conditions.ts';
import { virtualMachineAnnotations } from '../../contracts/virtual-machine/metadata.ts';
import { isCurrent, lifecycleOf, observationOf } from '../command/lifecycle-condition.ts';
import type { NextCommand } from '../command/next-commands.ts';
import { examples, liftStop, noWorker } from '../command/next-commands.ts';
import type { VirtualMachineDescription } from './virtual-machine-description.ts';
import type { VirtualMachineObject } from './virtual-machine-object.ts';
import { fullName } from '../command/object-reference.ts';

/** What a person may want to type next for a virtual machine, the most likely first. Pure. */
export function virtualMachineCommands({
  object,
  run,
  stops,
}: Pick<VirtualMachineDescription, 'object' | 'run' | 'stops'>): NextCommand[] {
  const isOpen = run?.status === 'Running';
  return [
    ...(stops.length === 0 ? [] : liftStop),
    ...(isOpen && run.progress === null ? noWorker : []),
    ...(object === null
      ? [{ command: 'drover vms', why: 'see those that there are' }]
      : [...byState(object, isOpen), describe(object)]),
  ];
}

const describe = ({ namespace, name }: VirtualMachineObject): NextCommand => ({
  command: `kubectl describe vm -n ${namespace} ${name}`,
  why: 'see its spec and its Events',
});
const retry = (machine: VirtualMachineObject, why: string): NextCommand => ({
  command: `drover retry vm ${fullName(machine)}`,
  why,
});
const removeAnnotation = ({ namespace, name }: VirtualMachineObject, annotation: string, why: string): NextCommand => ({
  command: `kubectl annotate vm -n ${namespace} ${name} ${annotation}-`,
  why,
});

function byState(machine: VirtualMachineObject, isOpen: boolean): NextCommand[] {
  const lifecycle = lifecycleOf(machine);
  if (lifecycle === undefined && observationOf(machine) !== undefined) return [];
  if (lifecycle === undefined || !isCurrent(machine))
    return isOpen
      ? []
      : [
          retry(machine, 'have a run observe it now'),
          { command: 'drover doctor', why: 'see whether the bridge and the workers are there' },
        ];
  switch (lifecycle.reason) {
    case 'Reconciled':
      return [];
    case 'Paused':
      return machine.paused
        ? [removeAnnotation(machine, virtualMachineAnnotations.paused, 'let drover go on')]
        : [retry(machine, 'observe it again, once it is not paused in vCenter any more')];
    case 'WaitingForPrerequisites':
      return [...lookAtPrerequisites(machine), now(machine)];
    case 'WaitingForGroup':
      return [
        ...(machine.group === null
          ? []
          : [
              {
                command: `kubectl describe virtualmachinegroup -n ${machine.namespace} ${machine.group}`,
                why: 'see whether its group lists and places it',
              },
            ]),
        now(machine),
      ];
    case 'PoweringOn':
      return [
        ...openGates(machine, machine.powerOnChecks, virtualMachineAnnotations.powerOnCheckPrefix, 'power it on'),
        now(machine),
      ];
    case 'GuestRefused':
      return [retry(machine, 'ask its guest now, when VMware Tools run in it')];
    case 'PowerOffRequired':
      return [
        {
          command: `kubectl patch vm -n ${machine.namespace} ${machine.name} --type merge -p '{"spec":{"powerState":"PoweredOff"}}'`,
          why: 'power it off, so that the rest of its spec is applied',
        },
      ];
    case 'DeletionBlocked':
      return openGates(machine, machine.deleteChecks, virtualMachineAnnotations.deleteCheckPrefix, 'let it be deleted');
    case 'NotOwned':
      return [retry(machine, 'observe it again, once the other VM has another name, or is gone')];
    case 'Ambiguous':
      return [retry(machine, 'observe it again, once only one of them can be its own')];
    case 'VcenterChanged':
      return [
        retry(machine, 'observe it again, once the settings, or its annotation, name the vCenter that has its VM'),
      ];
    case 'NotSupported':
      return [
        {
          command: `kubectl edit virtualmachine -n ${machine.namespace} ${machine.name}`,
          why: 'take out of the spec what drover does not do',
        },
      ];
    case 'Failed':
      return [retry(machine, 'try again now, when what stood in the way is mended')];
    default:
      return [lifecycle.status === 'False' ? retry(machine, 'go on') : now(machine)];
  }
}

const now = (machine: VirtualMachineObject): NextCommand => retry(machine, 'observe it now, without waiting');

const openGates = (
  machine: VirtualMachineObject,
  holders: readonly string[],
  prefix: string,
  what: string,
): NextCommand[] =>
  holders
    .slice(0, examples)
    .map((holder) => removeAnnotation(machine, `${prefix}${holder}`, `${what} without ${holder}, whose gate it is`));

/** What each prerequisite is looked up with, by its condition. */
const lookUps: Readonly<Record<string, (namespace: string) => NextCommand>> = {
  [types.classReady]: (namespace) => ({
    command: `kubectl get virtualmachineclasses -n ${namespace}`,
    why: 'see which classes there are',
  }),
  [types.imageReady]: (namespace) => ({
    command: `kubectl get virtualmachineimages -n ${namespace}`,
    why: 'see which images there are, and whether they are ready',
  }),
  [types.resourcePolicyReady]: (namespace) => ({
    command: `kubectl get virtualmachinesetresourcepolicies -n ${namespace}`,
    why: 'see which policies there are',
  }),
  [types.storageReady]: () => ({ command: 'kubectl get storageclasses', why: 'see which storage classes there are' }),
  [types.bootstrapReady]: (namespace) => ({
    command: `kubectl get secrets -n ${namespace}`,
    why: 'see which Secrets there are',
  }),
};

const lookAtPrerequisites = ({ namespace, conditions }: VirtualMachineObject): NextCommand[] =>
  Object.entries(lookUps).flatMap(([type, lookUp]) =>
    findCondition(conditions, type)?.status === 'False' ? [lookUp(namespace)] : [],
  );
