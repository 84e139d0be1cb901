import { z } from 'zod';

import type { VirtualMachineInput } from '../../../contracts/virtual-machine/lifecycle.ts';
import { handInput, objectNameFields, refusedInput } from '../lib/hand-input.ts';

const fields = {
  ...objectNameFields('VirtualMachine'),
  startedBy: z.string().max(253).optional(),
  mode: z.enum(['observe', 'act']).optional(),
};
const schema = handInput(fields);

/** What a person gave as input of a run. @throws InvalidInput every problem by name */
export function readVirtualMachineInput(input: unknown): VirtualMachineInput {
  const { data, error } = schema.safeParse(input);
  if (data !== undefined) {
    const { namespace, name, startedBy, mode } = data;
    return {
      namespace,
      name,
      ...(startedBy === undefined ? {} : { startedBy }),
      ...(mode === undefined ? {} : { mode }),
    };
  }
  throw refusedInput(error);
}
