import { z } from 'zod';

import { agentVmKeys } from '../../../contracts/agent-pool/metadata.ts';
import { extraConfigKeys } from '../../../contracts/virtual-machine/metadata.ts';
import type { Vim } from '../client.ts';
import { checked, type ReadObject } from '../properties.ts';
import type { ObservedOwner, VirtualMachine } from '../types.ts';
import type { AnyVirtualDevice } from '../wire/vim/types.ts';
import { vim as of } from '../wire/kinds.ts';
import { heldPaths } from './held-paths.ts';

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
  ...heldPaths,
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
  const read = checked(vim, vmProperties, object);
  const hardware = read['config.hardware'];
  const extraConfig = Object.fromEntries(read['config.extraConfig'].map(({ key, value }) => [key, String(value)]));
  const powerState = read['runtime.powerState'];
  return {
    id: object.ref.value,
    name: read.name,
    folderId: read.parent?.value ?? null,
    resourcePoolId: read.resourcePool?.value ?? null,
    hostId: read['runtime.host']?.value ?? null,
    connectionState: read['runtime.connectionState'],
    powerState,
    bootTime: powerState === 'poweredOff' ? null : (read['summary.runtime.bootTime'] ?? null),
    instanceUuid: read['summary.config.instanceUuid'],
    biosUuid: read['summary.config.uuid'],
    owner:
      toOwner(extraConfig[extraConfigKeys.namespacedName], extraConfig[extraConfigKeys.objectUid]) ??
      toAgentOwner(extraConfig[agentVmKeys.agent], extraConfig[agentVmKeys.agentUid]),
    config:
      hardware === undefined
        ? null
        : {
            changeVersion: read['config.changeVersion'],
            version: read['config.version'],
            isTemplate: read['config.template'],
            vmxPath: read['config.files.vmPathName'],
            devices: hardware.device ?? [],
            extraConfig,
          },
    properties: object.properties,
  };
}

/** Null: it has none. */
export const toOwner = (namespacedName: string | undefined, uid: string | undefined): ObservedOwner | null =>
  namespacedName ? { namespacedName, uid: uid || null } : null;

const toAgentOwner = (namespacedName: string | undefined, uid: string | undefined): ObservedOwner | null => {
  const owner = toOwner(namespacedName, uid);
  return owner === null ? null : { ...owner, kind: 'VsphereAgent' };
};

export type Devices = readonly AnyVirtualDevice[];

const ownerPath = (key: string): string => `config.extraConfig["${key}"]`;
const namePath = ownerPath(extraConfigKeys.namespacedName);
const uidPath = ownerPath(extraConfigKeys.objectUid);

export const ownerPaths = [namePath, uidPath] as const;

/** Of each VM of a folder: whose it is, and nothing of what its guest was given. */
export const listPaths = ['name', 'parent', 'summary.config.instanceUuid', ...ownerPaths] as const;

/** A VM in a folder. */
export interface ListedVm {
  id: string;
  name: string;
  folderId: string | null;
  instanceUuid: string;
  owner: ObservedOwner | null;
}

const listProperties = z.object({
  name: z.string(),
  parent: reference.optional(),
  'summary.config.instanceUuid': z.string().default(''),
});

/** @throws AnswerMalformed */
export function toListedVm(vim: Pick<Vim, 'name'>, object: ReadObject): ListedVm {
  const read = checked(vim, listProperties, object);
  return {
    id: object.ref.value,
    name: read.name,
    folderId: read.parent?.value ?? null,
    instanceUuid: read['summary.config.instanceUuid'],
    owner: listedOwner(object.properties),
  };
}

/** The owner, as {@link ownerPaths} show it. */
export function listedOwner(properties: ReadObject['properties']): ObservedOwner | null {
  const text = (path: string): string | undefined => {
    const found = option.safeParse(properties[path]);
    return found.success ? String(found.data.value) : undefined;
  };
  return toOwner(text(namePath), text(uidPath));
}
