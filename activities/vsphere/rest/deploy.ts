import { z } from 'zod';

import type { OwnershipMark } from '../../../contracts/virtual-machine-activities.ts';
import type { CreateSpec } from '../../../contracts/virtual-machine-plan.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import { newConfig } from '../specs/new-vm.ts';
import { encodeObject } from '../wire/encode.ts';
import type { VcenterRest } from './client.ts';

/** The answer comes when all is copied. */
const deployLimitMs = 60 * 60_000;

/** Of the task that vCenter makes of a REST call. */
const activationHeader = 'vapi-ctx-actid';

/**
 * Deploys an OVF of a content library, with identity, mark and cards in the same call. Drives are added afterwards: where those of the OVF
 * sit, nobody knows before. Pure.
 */
export function deployBody(create: CreateSpec, mark: OwnershipMark): object {
  const { name, at, config } = create;
  const cards = config.deviceChange?.filter(({ device }) => device === 'networkCard') ?? [];
  const spec = newConfig({ ...create, config: { ...config, deviceChange: cards } }, mark, []);
  return {
    deployment_spec: {
      name,
      accept_all_EULA: true,
      default_datastore_id: at.datastore,
      vm_config_spec: { provider: 'XML', xml: Buffer.from(encodeObject('VirtualMachineConfigSpec', spec)).toString('base64') },
    },
    target: { resource_pool_id: at.resourcePool, folder_id: at.folder, ...(at.host !== null && { host_id: at.host }) },
  };
}

const message = z.looseObject({ default_message: z.string().default('') });
const deployment = z.looseObject({
  succeeded: z.boolean().default(false),
  resource_id: z.looseObject({ type: z.string().default(''), id: z.string() }).optional(),
  error: z
    .looseObject({ errors: z.array(z.looseObject({ message: message.optional(), error: z.looseObject({ messages: z.array(message).default([]) }).optional() })).default([]) })
    .optional(),
});

/**
 * @param activationId by which its task is found
 * @returns the VM's id
 * @throws VsphereFailed in vCenter's words
 */
export async function deployItem(rest: VcenterRest, itemId: string, body: object, activationId: string, signal: AbortSignal): Promise<string> {
  const path = `/com/vmware/vcenter/ovf/library-item/id:${encodeURIComponent(itemId)}`;
  const { succeeded, resource_id: made, error } = await rest.call({ method: 'POST', path, query: { '~action': 'deploy' }, body, headers: { [activationHeader]: activationId } }, deployment, signal, deployLimitMs);
  if (succeeded && made !== undefined) return made.id;
  const words = error?.errors.flatMap((one) => [one.message, ...(one.error?.messages ?? [])].flatMap((said) => said?.default_message || [])) ?? [];
  throw droverFailure('VsphereFailed', `vCenter ${rest.vcenter} did not deploy item ${itemId}: ${redactedStart(words.join('; '), 600) || 'it does not say why'}`);
}
