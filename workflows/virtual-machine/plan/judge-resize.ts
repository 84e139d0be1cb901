import type { ConditionUpdate } from '../../../contracts/conditions.ts';
import type {
  AppliedClass,
  DesiredVirtualMachine,
  VirtualMachineSettings,
} from '../../../contracts/virtual-machine/lifecycle.ts';
import { trueReason, virtualMachineConditions } from '../../../contracts/virtual-machine/conditions.ts';
import type { ClassFacts, Fetched } from '../../../contracts/virtual-machine/observation.ts';

export interface Resize {
  /** What is to be applied; null: nothing. */
  apply: ClassFacts | null;
  /** Null: nothing is known of it. */
  condition: ConditionUpdate | null;
}

type Wanted = Pick<DesiredVirtualMachine, 'className' | 'lastResizedClass' | 'sameClassResize'>;

/**
 * Whether the VM takes another size from its class: the class is another one, or has changed and the object opts in. A class that is
 * missing holds nothing up: the VM keeps its size. Source: vm-and-machine.md A.7, resize rules.
 */
export function judgeResize(
  desired: Wanted,
  fetched: Fetched<ClassFacts> | null,
  { resize }: Pick<VirtualMachineSettings, 'resize'>,
): Resize {
  const { className, lastResizedClass: last, sameClassResize } = desired;
  if (className === null) return { apply: null, condition: null };
  if (fetched?.kind !== 'found')
    return {
      apply: null,
      condition: said('Unknown', 'ClassNotFound', `Class ${className} could not be read: the VM keeps its size`),
    };
  const found = fetched.value;
  const isOn = resize !== 'off';
  if (last === null)
    return {
      apply: isOn && sameClassResize ? found : null,
      condition:
        isOn && sameClassResize ? said('False', 'SameClassResize', `Class ${className} is to be applied`) : null,
    };
  if (last.name !== className)
    return {
      apply: isOn ? found : null,
      condition: said(
        'False',
        'ClassNameChanged',
        `The VM has the size of ${last.name}, and shall have that of ${className}`,
      ),
    };
  if (isSame(last, found)) return { apply: null, condition: said('True', trueReason, '') };
  if (!sameClassResize)
    return {
      apply: null,
      condition: said(
        'False',
        'ClassUpdated',
        `Class ${className} has changed since it was applied, and the VM does not follow it`,
      ),
    };
  return {
    apply: isOn ? found : null,
    condition: said('False', 'SameClassResize', `Class ${className} has changed since it was applied`),
  };
}

const isSame = (last: AppliedClass, found: AppliedClass): boolean =>
  last.uid === found.uid && last.generation === found.generation;

const said = (status: ConditionUpdate['status'], reason: string, message: string): ConditionUpdate => ({
  type: virtualMachineConditions.classSynced,
  status,
  reason,
  message,
});

/** The annotation that records what was applied, as upstream writes it. */
export const describeApplied = ({ name, uid, generation }: AppliedClass): string =>
  JSON.stringify({ Name: name, UID: uid, Generation: generation });
