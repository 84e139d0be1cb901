import {
  characters,
  int,
  list,
  opaque,
  optional,
  string,
  struct,
  uint,
  unsignedHyper,
  uuid,
  type Codec,
} from './xdr.ts';

/**
 * The procedures of libvirt's remote program that drover calls. Numbers and fields are those of remote_protocol.x; they
 * are only ever appended to, because an old client must be able to talk to a new daemon.
 */

/** REMOTE_AUTH_TYPE_LIST_MAX. */
const mostAuthTypes = 20;

const nothing = struct({});
const domain = struct({ name: string, uuid, id: int });
const pool = struct({ name: string, uuid });
const volume = struct({ pool: string, name: string, key: string });
const secret = struct({ uuid, usageType: int, usageId: string });
const saslAnswer = struct({ complete: int, isNull: int, data: characters });

/** `remote_error`, the payload of an answer that says no. */
export const remoteError = struct({
  code: int,
  domain: int,
  message: optional(string),
  level: int,
  dom: optional(domain),
  str1: optional(string),
  str2: optional(string),
  str3: optional(string),
  int1: int,
  int2: int,
  net: optional(pool),
});

interface Procedure<Args, Result> {
  number: number;
  args: Codec<Args>;
  result: Codec<Result>;
}

const procedure = <Args, Result>(
  number: number,
  args: Codec<Args>,
  result: Codec<Result>,
): Procedure<Args, Result> => ({ number, args, result });

export const procedures = {
  connectOpen: procedure(1, struct({ name: optional(string), flags: uint }), nothing),
  connectClose: procedure(2, nothing, nothing),
  connectGetType: procedure(3, nothing, struct({ type: string })),
  connectGetVersion: procedure(4, nothing, struct({ version: unsignedHyper })),
  connectGetCapabilities: procedure(7, nothing, struct({ xml: string })),
  domainCreateXml: procedure(10, struct({ xml: string, flags: uint }), struct({ domain })),
  connectGetHostname: procedure(59, nothing, struct({ hostname: string })),
  connectSupportsFeature: procedure(60, struct({ feature: int }), struct({ supported: int })),
  authList: procedure(66, nothing, struct({ types: list(int, mostAuthTypes) })),
  authSaslInit: procedure(67, nothing, struct({ mechanisms: string })),
  authSaslStart: procedure(68, struct({ mechanism: string, isNull: int, data: characters }), saslAnswer),
  authSaslStep: procedure(69, struct({ isNull: int, data: characters }), saslAnswer),
  storagePoolDefineXml: procedure(77, struct({ xml: string, flags: uint }), struct({ pool })),
  storagePoolCreate: procedure(78, struct({ pool, flags: uint }), nothing),
  storagePoolDestroy: procedure(80, struct({ pool }), nothing),
  storagePoolUndefine: procedure(82, struct({ pool }), nothing),
  storagePoolRefresh: procedure(83, struct({ pool, flags: uint }), nothing),
  storagePoolLookupByName: procedure(84, struct({ name: string }), struct({ pool })),
  storagePoolGetInfo: procedure(
    87,
    struct({ pool }),
    struct({ state: int, capacity: unsignedHyper, allocation: unsignedHyper, available: unsignedHyper }),
  ),
  connectGetUri: procedure(110, nothing, struct({ uri: string })),
  secretLookupByUuid: procedure(141, struct({ uuid }), struct({ secret })),
  secretDefineXml: procedure(142, struct({ xml: string, flags: uint }), struct({ secret })),
  secretSetValue: procedure(144, struct({ secret, value: opaque, flags: uint }), nothing),
  secretUndefine: procedure(146, struct({ secret }), nothing),
  connectGetLibVersion: procedure(157, nothing, struct({ version: unsignedHyper })),
  domainGetState: procedure(212, struct({ domain, flags: uint }), struct({ state: int, reason: int })),
  domainUndefineFlags: procedure(231, struct({ domain, flags: uint }), nothing),
  domainDestroyFlags: procedure(234, struct({ domain, flags: uint }), nothing),
  domainReset: procedure(245, struct({ domain, flags: uint }), nothing),
  connectListAllDomains: procedure(
    273,
    struct({ needResults: int, flags: uint }),
    struct({ domains: list(domain), count: uint }),
  ),
  connectListAllStoragePools: procedure(
    281,
    struct({ needResults: int, flags: uint }),
    struct({ pools: list(pool), count: uint }),
  ),
  storagePoolListAllVolumes: procedure(
    282,
    struct({ pool, needResults: int, flags: uint }),
    struct({ volumes: list(volume), count: uint }),
  ),
  connectDomainEventCallbackRegisterAny: procedure(
    316,
    struct({ eventId: int, domain: optional(domain) }),
    struct({ callbackId: int }),
  ),
} as const;

export type ProcedureName = keyof typeof procedures;
export type ProcedureArgs<Name extends ProcedureName> = ReturnType<(typeof procedures)[Name]['args']['read']>;
export type ProcedureResult<Name extends ProcedureName> = ReturnType<(typeof procedures)[Name]['result']['read']>;

/** What the daemon says by itself, by the number of its procedure, once it was asked for by the number of its kind. */
export const eventMessages = {
  lifecycle: { kind: 0, number: 318, message: struct({ callbackId: int, domain, event: int, detail: int }) },
  reboot: { kind: 1, number: 319, message: struct({ callbackId: int, domain }) },
  watchdog: { kind: 3, number: 321, message: struct({ callbackId: int, domain, action: int }) },
  ioError: {
    kind: 6,
    number: 324,
    message: struct({ callbackId: int, domain, sourcePath: string, device: string, action: int, reason: string }),
  },
} as const;
