import { z } from 'zod';

import type { ContentLibraryInput } from '../../../contracts/virtual-machine/content-library.ts';
import { handInput, refusedInput } from '../lib/hand-input.ts';

const fields = {
  library: z
    .string('give the name or the id of the content library')
    .min(1, 'must not be empty')
    .max(253, 'is too long for a content library'),
  namespace: z
    .string()
    .max(63, 'is too long for a namespace')
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u, 'is no namespace: lower-case letters, digits and -')
    .optional(),
};
const schema = handInput(fields);

/** What a person gave as input of a run. @throws InvalidInput every problem by name */
export function readLibraryInput(input: unknown): ContentLibraryInput {
  const { data, error } = schema.safeParse(input);
  if (data !== undefined)
    return { library: data.library, ...(data.namespace !== undefined && { namespace: data.namespace }) };
  throw refusedInput(error);
}
