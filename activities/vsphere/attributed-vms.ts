import { z } from 'zod';

import { droverFailure } from '../../runtime/failure.ts';
import { toVm, vmPaths } from './observation/read-vm.ts';
import { checked, type ReadObject, traversal } from './properties.ts';
import type { VcenterGateway, VirtualMachine } from './types.ts';
import { vim } from './wire/kinds.ts';
import { vmRef } from './wire/values.ts';

/** VMs with their custom attributes, in which other controllers write whose a VM is. */

/** Values of custom attributes by their names; those without a value are missing. */
export type Attributes = Readonly<Record<string, string>>;

export interface AttributedVm {
  id: string;
  name: string;
  /** In lower case. Empty: vCenter does not say it. */
  biosUuid: string;
  isTemplate: boolean;
  /** Milliseconds since the epoch; null: vCenter does not know it. */
  createdMs: number | null;
  attributes: Attributes;
}

const listPaths = ['name', 'summary.config.uuid', 'config.template', 'config.createDate', 'customValue'] as const;

const customValues = z.array(vim('CustomFieldValue')).default([]);
const listed = z.object({
  name: z.string(),
  'summary.config.uuid': z.string().default(''),
  'config.template': z.boolean().default(false),
  'config.createDate': z.string().optional(),
  customValue: customValues,
});
const attributed = z.object({ customValue: customValues });
const fieldTable = z.object({ field: z.array(vim('CustomFieldDef')).default([]) });

/**
 * The VMs that are in a folder itself, in one call and one more for each further page.
 *
 * @param path such as `/DC0/vm/team-a`
 * @throws VsphereObjectNotFound there is no such folder
 */
export async function readFolderVms(
  gateway: VcenterGateway,
  path: string,
  signal: AbortSignal,
): Promise<AttributedVm[]> {
  const folder = await findFolder(gateway, path, signal);
  const table = await gateway.manager('customFieldsManager', signal);
  const objects = await gateway.retrieve(
    {
      propSet: [
        { type: 'Folder', pathSet: ['name'] },
        { type: 'VirtualMachine', pathSet: [...listPaths] },
        { type: 'CustomFieldsManager', pathSet: ['field'] },
      ],
      objectSet: [{ obj: folder, selectSet: [traversal('Folder', 'childEntity')] }, { obj: table }],
    },
    signal,
  );
  // A folder that went meanwhile is left out of the answer, and must not be taken for an empty one.
  if (!objects.some(({ ref }) => ref.value === folder.value)) throw noFolder(gateway, path);
  const names = namesOf(gateway, objects);
  return objects.flatMap((object) => {
    if (object.ref.type !== 'VirtualMachine') return [];
    const read = checked({ name: gateway.vcenter }, listed, object);
    return {
      id: object.ref.value,
      name: read.name,
      biosUuid: read['summary.config.uuid'].toLowerCase(),
      isTemplate: read['config.template'],
      createdMs: createdMs(read['config.createDate']),
      attributes: attributesOf(gateway, object, read.customValue, names),
    };
  });
}

/**
 * The VMs of the whole vCenter that have a BIOS UUID, with what must be known before one is destroyed; not what their
 * guests were given.
 */
export async function readVmsByBiosUuid(
  gateway: VcenterGateway,
  uuid: string,
  signal: AbortSignal,
): Promise<{ vm: VirtualMachine; attributes: Attributes }[]> {
  const index = await gateway.manager('searchIndex', signal);
  const found = await gateway.call('FindAllByUuid', index, { uuid, vmSearch: true, instanceUuid: false }, signal);
  if (found === undefined || found.length === 0) return [];
  const pathSet = [...vmPaths.filter((path) => path !== 'config.extraConfig'), 'customValue'];
  const objects = await gateway.retrieve(
    {
      propSet: [
        { type: 'VirtualMachine', pathSet },
        { type: 'CustomFieldsManager', pathSet: ['field'] },
      ],
      objectSet: [
        ...found.map(({ value }) => ({ obj: vmRef(value) })),
        { obj: await gateway.manager('customFieldsManager', signal) },
      ],
    },
    signal,
  );
  const names = namesOf(gateway, objects);
  return objects.flatMap((object) => {
    if (object.ref.type !== 'VirtualMachine') return [];
    const vcenter = { name: gateway.vcenter };
    const { customValue } = checked(vcenter, attributed, object);
    return { vm: toVm(vcenter, object), attributes: attributesOf(gateway, object, customValue, names) };
  });
}

/** @throws VsphereObjectNotFound */
export async function findFolder(gateway: VcenterGateway, path: string, signal: AbortSignal) {
  const folder = await gateway.findByPath(path, signal);
  if (folder?.type !== 'Folder') throw noFolder(gateway, path);
  return folder;
}

const noFolder = ({ vcenter }: VcenterGateway, path: string) =>
  droverFailure('VsphereObjectNotFound', `vCenter ${vcenter} has no folder ${path}`);

/** Names of custom attributes by their keys. @throws AnswerMalformed where vCenter left them out */
function namesOf({ vcenter }: VcenterGateway, objects: readonly ReadObject[]): ReadonlyMap<number, string> {
  const table = objects.find(({ ref }) => ref.type === 'CustomFieldsManager');
  if (table === undefined)
    throw droverFailure('AnswerMalformed', `vCenter ${vcenter} does not say which custom attributes it has`);
  return new Map(checked({ name: vcenter }, fieldTable, table).field.map(({ key, name }) => [key, name]));
}

/** @throws AnswerMalformed for a value of an attribute that is not in the table: which one it is cannot be known */
function attributesOf(
  { vcenter }: VcenterGateway,
  { ref }: ReadObject,
  values: z.output<typeof customValues>,
  names: ReadonlyMap<number, string>,
): Attributes {
  return Object.fromEntries(
    values.flatMap((one) => {
      const value = 'value' in one && typeof one.value === 'string' ? one.value : '';
      if (value === '') return [];
      const name = names.get(one.key);
      if (name === undefined)
        throw droverFailure(
          'AnswerMalformed',
          `vCenter ${vcenter} gives ${ref.value} a custom attribute ${one.key}, and does not say which one that is`,
        );
      return [[name, value] as const];
    }),
  );
}

/** vCenter says 1970 of VMs that were made before it kept the time. */
function createdMs(text: string | undefined): number | null {
  const time = Date.parse(text ?? '');
  return time > 0 ? time : null;
}
