import { InvalidArgumentError, Option } from 'commander';
import { nearest } from '../../runtime/config/suggestion.ts';
import { CommandError, usageError } from './error.ts';
import { exitCodes } from './exit-codes.ts';

/** How a person names an object of a namespace; without a namespace, it is the only one of its name. */
export interface ObjectReference {
  namespace: string | null;
  name: string;
}

type Named = { namespace: string; name: string };

/** `namespace/name`. */
export const fullName = ({ namespace, name }: Named): string => `${namespace}/${name}`;

/** What stands before the name of an object where a host could be meant as well: `drover describe vm team/web`. */
export const nouns = {
  vm: { kind: 'VirtualMachine', what: 'virtual machine', list: 'drover vms' },
  pool: { kind: 'VsphereAgentPool', what: 'agent pool', list: 'drover pools' },
  agent: { kind: 'VsphereAgent', what: 'agent of a pool', list: 'kubectl get vsphereagents -A' },
  dv: { kind: 'DataVolume', what: 'DataVolume', list: 'drover clones' },
} as const;

export type Noun = keyof typeof nouns;

/** RFC 1123 label, and subdomain. */
const namespacePattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** What is shown in commands that people copy, of what users have written, is nothing else. */
export const isObjectName = (text: string): boolean => namePattern.test(text);

export function parseNamespace(text: string): string {
  if (!namespacePattern.test(text))
    throw new InvalidArgumentError('A namespace has lower-case letters, digits and "-", at most 63.');
  return text;
}

/** @param of whose namespace */
export const namespaceOption = (of: string): Option =>
  new Option('-n, --namespace <namespace>', `of the ${of}`).argParser(parseNamespace);

/**
 * Which object is meant: `namespace/name`, or a name with the namespace beside it, or a name alone.
 *
 * @throws CommandError usage
 */
export function readReference(noun: Noun, text: string, namespace: string | null): ObjectReference {
  const [name = '', own, ...more] = text.split('/').reverse();
  const isWellFormed = more.length === 0 && namePattern.test(name) && (own === undefined || namespacePattern.test(own));
  const { what, list } = nouns[noun];
  if (!isWellFormed)
    throw usageError(`"${text.slice(0, 80)}" names no ${what}.`, `Say NAMESPACE/NAME, as \`${list}\` lists it.`);
  if (own !== undefined && namespace !== null && own !== namespace)
    throw usageError(`${text} is not in the namespace ${namespace}.`, 'Say the namespace once.');
  return { namespace: own ?? namespace, name };
}

/**
 * The object that two words of a command name, the first of which is one of the nouns; null: they name a host. A host
 * that is called as a noun is named by that word alone.
 *
 * @throws CommandError usage
 */
export function objectOf<Known extends Noun>(
  known: readonly Known[],
  [first, second]: readonly [string, string | undefined],
  namespace: string | undefined,
): { noun: Known; reference: ObjectReference } | null {
  const noun = known.find((one) => one === first);
  if (noun !== undefined && second !== undefined)
    return { noun, reference: readReference(noun, second, namespace ?? null) };
  if (namespace !== undefined)
    throw usageError(
      'Hosts have no namespace.',
      `Of ${known.map((one) => `a ${nouns[one].what}, say \`${one} NAME -n ${namespace}\``).join('; of ')}.`,
    );
  return null;
}

/**
 * What a user reads who names an object that is none, with the one that they may have meant.
 *
 * @param known all that there are
 * @param consequence a sentence: nothing was changed
 */
export function unknownObject(
  noun: Noun,
  { namespace, name }: ObjectReference,
  known: readonly Named[],
  consequence = '',
): CommandError {
  const { kind, list } = nouns[noun];
  const elsewhere = known.filter((one) => one.name === name);
  const near = nearest(
    name,
    known.filter((one) => namespace === null || one.namespace === namespace).map((one) => one.name),
  );
  const candidate =
    elsewhere.length === 1
      ? elsewhere[0]
      : known.find((one) => one.name === near && (namespace === null || one.namespace === namespace));
  const advice = `${candidate === undefined ? '' : `Did you mean ${fullName(candidate)}? `}\`${list}\` lists those there are.`;
  return new CommandError(
    `There is no ${kind} ${namespace === null ? name : fullName({ namespace, name })}.${consequence === '' ? '' : ` ${consequence}`}`,
    exitCodes.notFound,
    advice,
  );
}

/** The only one of that name. @throws CommandError: notFound, or usage where several have it */
export function onlyOneNamed<One extends Named>(
  noun: Noun,
  name: string,
  known: readonly One[],
  consequence = '',
): One {
  const those = known.filter((one) => one.name === name);
  const [one] = those;
  if (one === undefined) throw unknownObject(noun, { namespace: null, name }, known, consequence);
  if (those.length > 1)
    throw usageError(
      `There are ${String(those.length)} ${nouns[noun].kind}s ${name}.${consequence === '' ? '' : ` ${consequence}`}`,
      `Say which one: ${those.map(fullName).join(', ')}.`,
    );
  return one;
}
