import { z } from 'zod';

import { consents, evictionCauses } from '../../../contracts/eviction/eviction.ts';
import type { EvictionInput } from '../../../contracts/eviction/eviction.ts';
import { isObstacleId, isTime, parallelismLimits } from '../../../contracts/eviction/annotations.ts';
import { droverFailure } from '../../../runtime/failure.ts';

const { min, max } = parallelismLimits;

/** Names that can be part of a workflow id and of a URL. */
const hostPattern = /^[A-Za-z0-9]([-._A-Za-z0-9]*[A-Za-z0-9])?$/u;

const inputSchema = z
  .strictObject({
    hypervisor: z
      .string('give the name of the hypervisor')
      .min(1, 'must not be empty')
      .max(253, 'is longer than a host name can be')
      .regex(hostPattern, 'is no host name'),
    reason: z
      .string()
      .refine((text) => text.trim() !== '', 'must not be empty: say why the host is to be emptied')
      .optional(),
    cause: z.enum(evictionCauses).optional(),
    deadline: z.string().refine(isTime, 'must be an RFC 3339 time, such as 2026-01-31T12:00:00Z').optional(),
    reEnable: z.boolean().optional(),
    parallelism: z.int().min(min, `must be from ${min} to ${max}`).max(max, `must be from ${min} to ${max}`).optional(),
    acceptObstacles: z.array(z.string().refine(isObstacleId, 'is no obstacle id')).optional(),
    consent: z.array(z.enum(consents)).optional(),
    mode: z.enum(['observe', 'act']).optional(),
    startedBy: z.string().min(1).optional(),
  })
  // Consent without a name is no consent (design section 2, rule 16).
  .refine(
    ({ consent = [], acceptObstacles = [], startedBy }) =>
      consent.length + acceptObstacles.length === 0 || startedBy !== undefined,
    {
      path: ['startedBy'],
      error: 'say who consents',
    },
  );

/**
 * Checks the plain JSON that a run was started with.
 *
 * @throws InvalidInput that names every problem
 */
export function parseEvictionInput(given: unknown): EvictionInput {
  const { data, error } = inputSchema.safeParse(given);
  if (error === undefined) return data as EvictionInput;
  throw droverFailure(
    'InvalidInput',
    `The input of evictHypervisor is not right. ${error.issues.flatMap(describeIssue).join('; ')}`,
  );
}

/** Of fields that are not known; more would say no more. */
const mostNamed = 5;

function describeIssue(issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys')
    return [
      `${issue.keys.slice(0, mostNamed).join(', ')}: unknown field; known are ${Object.keys(inputSchema.shape).join(', ')}`,
    ];
  const path = issue.path.map(String).join('.');
  return [`${path === '' ? 'the input' : path}: ${issue.message}`];
}

/** Whether the bridge started the run: everything else is then in the Eviction. */
export const isBare = (input: EvictionInput): boolean => Object.keys(input).every((key) => key === 'hypervisor');
