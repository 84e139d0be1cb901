import { z } from 'zod';

import type { VcenterRest } from './client.ts';

/** Sets of VMs of one cluster: a policy of vCenter's keeps those of one set on different hosts. */

const membersPath = (module: string): string => `/vcenter/cluster/modules/vm/${encodeURIComponent(module)}/members`;

const members = z.looseObject({ vms: z.array(z.string()).nullish() });
const added = z.looseObject({ success: z.boolean() });

/** @throws VsphereObjectNotFound: there is no such module */
export async function isMember(rest: VcenterRest, module: string, vmId: string, signal: AbortSignal): Promise<boolean> {
  const { vms } = await rest.call({ method: 'GET', path: membersPath(module) }, members, signal);
  return vms?.includes(vmId) ?? false;
}

/** False: it is one already, or is not in the cluster of the module. @throws VsphereObjectNotFound */
export async function addMember(
  rest: VcenterRest,
  module: string,
  vmId: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { success } = await rest.call(
    { method: 'POST', path: membersPath(module), query: { action: 'add' }, body: { vms: [vmId] } },
    added,
    signal,
  );
  return success;
}

const modulesPath = '/vcenter/cluster/modules';
const summaries = z.looseObject({
  summaries: z.array(z.looseObject({ module: z.string(), cluster: z.string() })).nullish(),
});

/** Of all clusters of the vCenter. */
export async function listModules(rest: VcenterRest, signal: AbortSignal): Promise<string[]> {
  const { summaries: found } = await rest.call({ method: 'GET', path: modulesPath }, summaries, signal);
  return (found ?? []).map(({ module }) => module);
}

/** Its id: it has no name. */
export const createModule = (rest: VcenterRest, cluster: string, signal: AbortSignal): Promise<string> =>
  rest.call({ method: 'POST', path: modulesPath, body: { spec: { cluster } } }, z.string().min(1), signal);

/** The VMs in it stay as they are. @throws VsphereObjectNotFound */
export async function deleteModule(rest: VcenterRest, module: string, signal: AbortSignal): Promise<void> {
  await rest.call({ method: 'DELETE', path: `${modulesPath}/${encodeURIComponent(module)}` }, z.unknown(), signal);
}
