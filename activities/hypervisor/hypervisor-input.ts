import { z } from 'zod';
import type { HypervisorInput } from '../../contracts/hypervisor/hypervisor.ts';
import { droverFailure } from '../../runtime/failure.ts';

const fields = {
  hypervisor: z
    .string('give the name of the hypervisor')
    .min(1, 'must not be empty')
    .max(253, 'is too long for a name')
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u, 'is no name of a Hypervisor: lower-case letters, digits, - and .'),
  startedBy: z.string().max(253).optional(),
  mode: z.enum(['observe', 'act']).optional(),
};
const schema = z.strictObject(fields, {
  error: (issue) =>
    issue.code === 'unrecognized_keys' ? `unknown field; known are ${Object.keys(fields).join(', ')}` : undefined,
});

/** What a person gave as input of a run. @throws InvalidInput every problem by name */
export function readHypervisorInput(input: unknown): HypervisorInput {
  const { data, error } = schema.safeParse(input);
  if (data !== undefined) {
    const { hypervisor, startedBy, mode } = data;
    return { hypervisor, ...(startedBy === undefined ? {} : { startedBy }), ...(mode === undefined ? {} : { mode }) };
  }
  const problems = error.issues.map((issue) => {
    const path = issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.map(String).join('.');
    return `${path || 'the input'}: ${issue.message}`;
  });
  throw droverFailure('InvalidInput', problems.join('; '));
}
