import { z } from 'zod';

import type { OwnerReference } from '../../../contracts/virtual-machine/activities.ts';
import type { CreateSpec } from '../../../contracts/virtual-machine/mutations.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import { newConfig } from '../specs/new-vm.ts';
import { encodeObject } from '../wire/encode.ts';
import type { VcenterRest } from './client.ts';
import { codeOfType } from './faults.ts';

/** The answer comes when all is copied. */
const deployLimitMs = 60 * 60_000;

/** Of the task that vCenter makes of a REST call. */
const activationHeader = 'vapi-ctx-actid';

/**
 * Deploys an OVF of a content library, with identity, owner, cards and PCI devices in the same call. Drives are added
 * afterwards: where those of the OVF sit is not known before. Pure.
 */
export function deployBody(create: CreateSpec, owner: OwnerReference): object {
  const { name, at, config, provisioning, storageProfileId } = create;
  const deviceChange = config.deviceChange?.filter(({ device }) => device !== 'cdrom') ?? [];
  const spec = newConfig({ ...create, config: { ...config, deviceChange } }, owner, []);
  return {
    deployment_spec: {
      name,
      accept_all_EULA: true,
      default_datastore_id: at.datastore,
      ...(storageProfileId !== undefined && { storage_profile_id: storageProfileId }),
      ...(provisioning !== undefined && { storage_provisioning: provisioning }),
      vm_config_spec: {
        provider: 'XML',
        xml: Buffer.from(encodeObject('VirtualMachineConfigSpec', spec)).toString('base64'),
      },
    },
    target: { resource_pool_id: at.resourcePool, folder_id: at.folder, ...(at.host !== null && { host_id: at.host }) },
  };
}

const message = z.looseObject({ default_message: z.string().default('') });
const failed = z.looseObject({
  category: z.string().default(''),
  message: message.optional(),
  issues: z.array(z.looseObject({ message: message.optional() })).default([]),
  error: z.looseObject({ '@class': z.string().default(''), messages: z.array(message).default([]) }).optional(),
});
export const deployment = z.looseObject({
  succeeded: z.boolean().default(false),
  resource_id: z.looseObject({ type: z.string().default(''), id: z.string() }).optional(),
  error: z.looseObject({ errors: z.array(failed).default([]) }).optional(),
});

/**
 * @param activationId by which its task is found
 * @returns the VM's id
 * @throws what judgeDeployment says, beside what any call does
 */
export async function deployItem(
  rest: VcenterRest,
  itemId: string,
  body: object,
  activationId: string,
  signal: AbortSignal,
): Promise<string> {
  const path = `/com/vmware/vcenter/ovf/library-item/id:${encodeURIComponent(itemId)}`;
  const request = {
    method: 'POST' as const,
    path,
    query: { '~action': 'deploy' },
    body,
    headers: { [activationHeader]: activationId },
  };
  return judgeDeployment(rest.vcenter, itemId, await rest.call(request, deployment, signal, deployLimitMs));
}

/**
 * vCenter answers 200 also where it has failed. Pure.
 * @throws RequestRefused for an OVF that it cannot take; VsphereFailed and the like in its words
 */
export function judgeDeployment(
  vcenter: string,
  itemId: string,
  { succeeded, resource_id: made, error }: z.output<typeof deployment>,
): string {
  if (succeeded && made?.type === 'VirtualMachine') return made.id;
  if (succeeded && made !== undefined)
    throw droverFailure(
      'RequestRefused',
      `vCenter ${vcenter} made a ${made.type} (${made.id}) of item ${itemId}: an OVF of several VMs is no image of one`,
    );
  const errors = error?.errors ?? [];
  const words = errors.flatMap((one) =>
    [one.message, ...one.issues.map((issue) => issue.message), ...(one.error?.messages ?? [])].flatMap(
      (said) => said?.default_message || [],
    ),
  );
  const [first] = errors;
  const ofInput = first !== undefined && ['INPUT', 'VALIDATION'].includes(first.category) ? 'RequestRefused' : null;
  const code = codeOfType(first?.error?.['@class'] ?? '') ?? ofInput ?? 'VsphereFailed';
  throw droverFailure(
    code,
    `vCenter ${vcenter} did not deploy item ${itemId}: ${redactedStart(words.join('; '), 600) || 'it does not say why'}`,
  );
}
