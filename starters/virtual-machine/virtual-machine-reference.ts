import { InvalidArgumentError, Option } from 'commander';
import { usageError } from '../command/error.ts';
import type { VirtualMachineReference } from './virtual-machine-object.ts';

/** What stands before the name of a virtual machine where a host could be meant as well: `drover describe vm team/web`. */
export const virtualMachineWord = 'vm';

/** RFC 1123 label, and subdomain. */
const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

export function parseNamespace(text: string): string {
  if (!namespacePattern.test(text))
    throw new InvalidArgumentError('A namespace has lower-case letters, digits and "-", at most 63.');
  return text;
}

export const namespaceOption = (): Option =>
  new Option('-n, --namespace <namespace>', 'of the VirtualMachine').argParser(parseNamespace);

/**
 * Which virtual machine is meant: `namespace/name`, or a name with the namespace beside it, or a name alone.
 *
 * @throws CommandError usage
 */
export function readReference(text: string, namespace: string | null): VirtualMachineReference {
  const [name = '', own, ...more] = text.split('/').reverse();
  const isWellFormed = more.length === 0 && namePattern.test(name) && (own === undefined || namespacePattern.test(own));
  if (!isWellFormed)
    throw usageError(
      `"${text.slice(0, 80)}" names no virtual machine.`,
      'Say NAMESPACE/NAME, as `drover vms` lists it.',
    );
  if (own !== undefined && namespace !== null && own !== namespace)
    throw usageError(`${text} is not in the namespace ${namespace}.`, 'Say the namespace once.');
  return { namespace: own ?? namespace, name };
}

/**
 * The virtual machine that two words of a command name, the first of which is `vm`; null: they name a host. A host that is called `vm` is
 * named by that word alone.
 *
 * @throws CommandError usage
 */
export function machineOf(
  first: string,
  second: string | undefined,
  namespace: string | undefined,
): VirtualMachineReference | null {
  if (first === virtualMachineWord && second !== undefined) return readReference(second, namespace ?? null);
  if (namespace !== undefined)
    throw usageError(
      'Hosts have no namespace.',
      `Of a virtual machine, say \`${virtualMachineWord} NAME -n ${namespace}\`.`,
    );
  return null;
}
