import { z } from 'zod';

import type { AgentPoolInput } from '../../contracts/agent-pool/agent-pool.ts';
import type { VsphereAgentInput } from '../../contracts/agent-pool/vsphere-agent.ts';
import type { DataVolumeInput } from '../../contracts/data-volume/data-volume.ts';
import { isObstacleId, isTime, parallelismLimits } from '../../contracts/eviction/annotations.ts';
import { consents, evictionCauses, type EvictionInput, hostNameProblem } from '../../contracts/eviction/eviction.ts';
import type { HypervisorInput } from '../../contracts/hypervisor/hypervisor.ts';
import type { StorageProfileInput } from '../../contracts/data-volume/storage-profile-run.ts';
import type { SweepInput } from '../../contracts/machine-safety/sweep.ts';
import type { ResourcePolicyInput } from '../../contracts/resource-policy/resource-policy.ts';
import type { ContentLibraryInput } from '../../contracts/virtual-machine/content-library.ts';
import type { VirtualMachineInput } from '../../contracts/virtual-machine/lifecycle.ts';
import { droverFailure } from '../../runtime/failure.ts';

/** The inputs of runs, which a user may type as plain JSON: each has its fields and no others. */

const input = <const Fields extends z.ZodRawShape>(fields: Fields) =>
  z.strictObject(fields, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown field; known are ${Object.keys(fields).join(', ')}` : undefined,
  });

/** Of the fields that are not known; more would say no more. */
const mostNamed = 5;

/** Takes what fits the schema. The function that it gives throws `InvalidInput`, with every problem by name. */
const reader =
  <Input>(schema: z.ZodType<Input>) =>
  (given: unknown): Input => {
    const { data, error } = schema.safeParse(given);
    if (error === undefined) return data;
    const problems = error.issues.map((issue) => {
      const path = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, mostNamed) : issue.path.map(String);
      return `${path.join(issue.code === 'unrecognized_keys' ? ', ' : '.') || 'the input'}: ${issue.message}`;
    });
    throw droverFailure('InvalidInput', problems.join('; '));
  };

const namespaceOf = (problem?: string) =>
  z
    .string(problem)
    .max(63, 'is too long for a namespace')
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/u, 'is no namespace: lower-case letters, digits and -');

const nameOf = (kind: string, problem = `give the name of the ${kind}`) =>
  z
    .string(problem)
    .min(1, 'must not be empty')
    .max(253, 'is too long for a name')
    .regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/u, `is no name of a ${kind}: lower-case letters, digits, - and .`);

/** What names an object of a namespace. */
const objectName = (kind: string) => ({
  namespace: namespaceOf(`give the namespace of the ${kind}`).min(1, 'must not be empty'),
  name: nameOf(kind),
});

/** What a user may say besides. */
const start = {
  startedBy: z.string().max(253).exactOptional(),
  mode: z.enum(['observe', 'act']).exactOptional(),
};

export const readResourcePolicyInput = reader<ResourcePolicyInput>(
  input(objectName('VirtualMachineSetResourcePolicy')),
);

export const readAgentPoolInput = reader<AgentPoolInput>(input(objectName('VsphereAgentPool')));

export const readDataVolumeInput = reader<DataVolumeInput>(input(objectName('DataVolume')));

export const readVsphereAgentInput = reader<VsphereAgentInput>(input(objectName('VsphereAgent')));

export const readStorageProfileInput = reader<StorageProfileInput>(input({ name: nameOf('StorageClass') }));

export const readVirtualMachineInput = reader<VirtualMachineInput>(
  input({ ...objectName('VirtualMachine'), ...start }),
);

export const readHypervisorInput = reader<HypervisorInput>(
  input({ hypervisor: nameOf('Hypervisor', 'give the name of the hypervisor'), ...start }),
);

export const readLibraryInput = reader<ContentLibraryInput>(
  input({
    library: z
      .string('give the name or the id of the content library')
      .min(1, 'must not be empty')
      .max(253, 'is too long for a content library'),
    namespace: namespaceOf().exactOptional(),
  }),
);

const { min, max } = parallelismLimits;
const outOfLimits = `must be from ${min} to ${max}`;

export const readEvictionInput = reader<EvictionInput>(
  input({
    hypervisor: z.string('give the name of the hypervisor').superRefine((name, context) => {
      const problem = hostNameProblem(name);
      if (problem !== null) context.addIssue(problem);
    }),
    reason: z
      .string()
      .refine((text) => text.trim() !== '', 'must not be empty: say why the host is to be emptied')
      .exactOptional(),
    cause: z.enum(evictionCauses).exactOptional(),
    deadline: z.string().refine(isTime, 'must be an RFC 3339 time, such as 2026-01-31T12:00:00Z').exactOptional(),
    reEnable: z.boolean().exactOptional(),
    parallelism: z.int().min(min, outOfLimits).max(max, outOfLimits).exactOptional(),
    acceptObstacles: z.array(z.string().refine(isObstacleId, 'is no obstacle id')).exactOptional(),
    consent: z.array(z.enum(consents)).exactOptional(),
    mode: start.mode,
    startedBy: z.string().min(1).exactOptional(),
  }).refine(
    ({ consent = [], acceptObstacles = [], startedBy }) =>
      consent.length + acceptObstacles.length === 0 || startedBy !== undefined,
    { path: ['startedBy'], error: 'say who consents' },
  ),
);

export const readSweepInput = reader<SweepInput>(
  input({
    namespace: namespaceOf('give the namespace of the Machines').min(1, 'must not be empty'),
    dryRun: z.boolean().exactOptional(),
  }),
);
