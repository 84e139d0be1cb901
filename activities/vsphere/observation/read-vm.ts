import { z } from 'zod';

import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { Vim } from '../client.ts';
import { checked, type ReadObject } from '../properties.ts';
import type { SeenMark, VirtualMachine } from '../types.ts';
import type { AnyVirtualDevice } from '../wire/vim/types.ts';
import { vim as of } from '../wire/kinds.ts';

/** What drover has to know of a VM before it does anything to it. */
export const vmPaths = [
  'name',
  'parent',
  'resourcePool',
  'runtime.host',
  'runtime.connectionState',
  'runtime.powerState',
  'summary.runtime.bootTime',
  'summary.config.instanceUuid',
  'summary.config.uuid',
  'config.changeVersion',
  'config.version',
  'config.template',
  'config.files.vmPathName',
  'config.hardware',
  'config.extraConfig',
] as const;

const reference = z.object({ type: z.string(), value: z.string() });
/** Values are text nearly always; keys of vCenter itself may hold others. */
const option = z.looseObject({ key: z.string(), value: z.union([z.string(), z.number(), z.boolean()]).catch('') });

const vmProperties = z.object({
  name: z.string(),
  parent: reference.optional(),
  resourcePool: reference.optional(),
  'runtime.host': reference.optional(),
  'runtime.connectionState': z.string(),
  'runtime.powerState': z.enum(['poweredOn', 'poweredOff', 'suspended']),
  'summary.runtime.bootTime': z.string().optional(),
  'summary.config.instanceUuid': z.string().default(''),
  'summary.config.uuid': z.string().default(''),
  'config.changeVersion': z.string().default(''),
  'config.version': z.string().default(''),
  'config.template': z.boolean().default(false),
  'config.files.vmPathName': z.string().default(''),
  'config.hardware': of('VirtualHardware').optional(),
  'config.extraConfig': z.array(option).default([]),
});

/** @throws AnswerMalformed */
export function toVm(vim: Pick<Vim, 'name'>, object: ReadObject): VirtualMachine {
  const seen = checked(vim, vmProperties, object);
  const hardware = seen['config.hardware'];
  const extraConfig = Object.fromEntries(seen['config.extraConfig'].map(({ key, value }) => [key, String(value)]));
  const powerState = seen['runtime.powerState'];
  return {
    id: object.ref.value,
    name: seen.name,
    folderId: seen.parent?.value ?? null,
    resourcePoolId: seen.resourcePool?.value ?? null,
    hostId: seen['runtime.host']?.value ?? null,
    connectionState: seen['runtime.connectionState'],
    powerState,
    bootTime: powerState === 'poweredOff' ? null : (seen['summary.runtime.bootTime'] ?? null),
    instanceUuid: seen['summary.config.instanceUuid'],
    biosUuid: seen['summary.config.uuid'],
    mark: markOf(extraConfig[extraConfigKeys.namespacedName], extraConfig[extraConfigKeys.objectUid]),
    config:
      hardware === undefined
        ? null
        : {
            changeVersion: seen['config.changeVersion'],
            version: seen['config.version'],
            isTemplate: seen['config.template'],
            vmxPath: seen['config.files.vmPathName'],
            devices: hardware.device ?? [],
            extraConfig,
          },
    properties: object.properties,
  };
}

/** Null: it has none. */
export const markOf = (namespacedName: string | undefined, uid: string | undefined): SeenMark | null =>
  namespacedName ? { namespacedName, uid: uid || null } : null;

export type Devices = readonly AnyVirtualDevice[];

const markPath = (key: string): string => `config.extraConfig["${key}"]`;
const namePath = markPath(extraConfigKeys.namespacedName);
const uidPath = markPath(extraConfigKeys.objectUid);

export const markPaths = [namePath, uidPath] as const;

/** Of each VM of a folder: whose it is, and nothing of what its guest was given. */
export const listPaths = ['name', 'parent', 'summary.config.instanceUuid', ...markPaths] as const;

/** A VM in a folder. */
export interface ListedVm {
  id: string;
  name: string;
  folderId: string | null;
  instanceUuid: string;
  mark: SeenMark | null;
}

const listProperties = z.object({
  name: z.string(),
  parent: reference.optional(),
  'summary.config.instanceUuid': z.string().default(''),
});

/** @throws AnswerMalformed */
export function toListedVm(vim: Pick<Vim, 'name'>, object: ReadObject): ListedVm {
  const seen = checked(vim, listProperties, object);
  return {
    id: object.ref.value,
    name: seen.name,
    folderId: seen.parent?.value ?? null,
    instanceUuid: seen['summary.config.instanceUuid'],
    mark: listedMark(object.properties),
  };
}

/** The mark, as {@link markPaths} tell of it. */
export function listedMark(properties: ReadObject['properties']): SeenMark | null {
  const text = (path: string): string | undefined => {
    const found = option.safeParse(properties[path]);
    return found.success ? String(found.data.value) : undefined;
  };
  return markOf(text(namePath), text(uidPath));
}
