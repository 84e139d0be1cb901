import { z } from 'zod';

import type { DrivenClass } from '../../../contracts/machine-safety/driver.ts';
import { droverFailure } from '../../../runtime/failure.ts';

/** What the classes of all providers have in common. */

export const describeClass = ({ namespace, name }: Pick<DrivenClass, 'namespace' | 'name'>): string =>
  `MachineClass ${namespace}/${name}`;

/** Of the problems of one object; more would say no more. */
const mostProblems = 5;

/**
 * Takes what fits the schema. The words of a failure name fields and never repeat a value, which may be secret.
 * @throws InvalidObject
 */
export function readFields<Schema extends z.ZodType>(schema: Schema, given: unknown, where: string): z.output<Schema> {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues
    .slice(0, mostProblems)
    .map(({ path, message }) => `${path.map(String).join('.') || 'the whole'}: ${message}`);
  throw droverFailure('InvalidObject', `${where}: ${problems.join('; ')}.`);
}

/** Longer than any name at a provider. */
const longestText = 1_024;

export const text = z.string('expected text').min(1, 'must not be empty').max(longestText, 'is too long');

/** A part of a provider’s id. */
const region = text.regex(/^[^/\s\p{Cc}]+$/u, 'expected the name of a region');

/** That of the provider’s part of the class, else that of its node template. @throws InvalidObject */
export const readRegion = (given: string | undefined, machineClass: DrivenClass): string =>
  readFields(region, given ?? machineClass.region, `${describeClass(machineClass)}: region`);

export const classTags = z
  .record(z.string(), z.string('expected text'), 'expected a mapping of names to texts')
  .default({});

export const certificates = z
  .string('expected text')
  .refine((pem) => pem.includes('-----BEGIN CERTIFICATE-----'), 'holds no PEM certificate');

/** Secrets hold texts only. */
export const flag = z
  .string('expected text')
  .optional()
  .transform((value) => /^(1|t|true|yes)$/iu.test(value ?? ''));
