import { z } from 'zod';

import { droverFailure } from '../../../runtime/failure.ts';

/** What names an object of a namespace. */
export const objectNameFields = (kind: string) => ({
  namespace: z
    .string(`give the namespace of the ${kind}`)
    .min(1, 'must not be empty')
    .max(63, 'is too long for a namespace')
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u, 'is no namespace: lower-case letters, digits and -'),
  name: z
    .string(`give the name of the ${kind}`)
    .min(1, 'must not be empty')
    .max(253, 'is too long for a name')
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u, `is no name of a ${kind}: lower-case letters, digits, - and .`),
});

/** Input of a run that a person may type: of these fields and no others. */
export const handInput = <const Fields extends z.ZodRawShape>(fields: Fields) =>
  z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown field; known are ${Object.keys(fields).join(', ')}` : undefined,
  });

/** `InvalidInput` with every problem by name. */
export function refusedInput(error: z.ZodError): Error {
  const problems = error.issues.map((issue) => {
    const path = issue.code === 'unrecognized_keys' ? issue.keys.join(', ') : issue.path.map(String).join('.');
    return `${path || 'the input'}: ${issue.message}`;
  });
  return droverFailure('InvalidInput', problems.join('; '));
}
