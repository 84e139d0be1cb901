import type { ResourcePolicyInput } from '../../../contracts/resource-policy/resource-policy.ts';
import { handInput, objectNameFields, refusedInput } from '../lib/hand-input.ts';

const schema = handInput(objectNameFields('VirtualMachineSetResourcePolicy'));

/** What a person gave as input of a run. @throws InvalidInput every problem by name */
export function readResourcePolicyInput(input: unknown): ResourcePolicyInput {
  const { data, error } = schema.safeParse(input);
  if (data === undefined) throw refusedInput(error);
  return data;
}
