import { nearest } from '../../runtime/config/suggestion.ts';
import { CommandError, usageError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { VirtualMachineReference } from './virtual-machine-object.ts';
import { fullName } from './virtual-machine-object.ts';

type Named = { namespace: string; name: string };

/**
 * What a user reads who names a VirtualMachine that is none, with the one that they may have meant.
 *
 * @param known all that there are
 * @param consequence a sentence: nothing was changed
 */
export function unknownVirtualMachine(
  { namespace, name }: VirtualMachineReference,
  known: readonly Named[],
  consequence = '',
): CommandError {
  const elsewhere = known.filter((one) => one.name === name);
  const near = nearest(
    name,
    known.filter((one) => namespace === null || one.namespace === namespace).map((one) => one.name),
  );
  const candidate =
    elsewhere.length === 1
      ? elsewhere[0]
      : known.find((one) => one.name === near && (namespace === null || one.namespace === namespace));
  const advice = `${candidate === undefined ? '' : `Did you mean ${fullName(candidate)}? `}\`drover vms\` lists those there are.`;
  return new CommandError(
    `There is no VirtualMachine ${namespace === null ? name : fullName({ namespace, name })}.${consequence === '' ? '' : ` ${consequence}`}`,
    exitCodes.notFound,
    advice,
  );
}

/** The only one of that name. @throws CommandError: notFound, or usage where several have it */
export function onlyOneNamed<One extends Named>(name: string, known: readonly One[], consequence = ''): One {
  const those = known.filter((one) => one.name === name);
  const [one] = those;
  if (one === undefined) throw unknownVirtualMachine({ namespace: null, name }, known, consequence);
  if (those.length > 1)
    throw usageError(
      `There are ${String(those.length)} VirtualMachines ${name}.${consequence === '' ? '' : ` ${consequence}`}`,
      `Say which one: ${those.map(fullName).join(', ')}.`,
    );
  return one;
}
