import { gunzipSync } from 'node:zlib';

import type { VirtualMachine, VirtualMachineSpec } from '../../../contracts/crds/virtual-machine.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { pack } from '../../../runtime/pack.ts';
import type { Secrets } from './bootstrap-secrets.ts';
import { describeNetwork } from './guest-network.ts';

type CloudInit = NonNullable<NonNullable<VirtualMachineSpec['bootstrap']>['cloudInit']>;
type CloudConfig = NonNullable<CloudInit['cloudConfig']>;

/** What cloud-init's data source for VMware reads. */
export interface CloudInitData {
  /** @param macAddresses of the network cards, in the order of the spec */
  metadata: (macAddresses: readonly (string | null)[]) => object;
  /** Null: none. */
  userData: string | null;
}

export function readCloudInit(
  { metadata: { name, uid }, spec = {} }: VirtualMachine,
  cloudInit: CloudInit,
  secrets: Secrets,
): CloudInitData {
  const { network = {} } = spec;
  const {
    cloudConfig,
    rawCloudConfig: raw,
    waitOnNetwork4: ipv4,
    waitOnNetwork6: ipv6,
    sshAuthorizedKeys = [],
  } = cloudInit;
  const hostName = [network.hostName ?? name, ...(network.domainName === undefined ? [] : [network.domainName])].join(
    '.',
  );
  const keys = [
    ...sshAuthorizedKeys,
    ...(raw === undefined ? [] : linesOf(secrets.find({ name: raw.name, key: legacyKeys }))),
  ];
  const defaults = {
    nameservers: (cloudInit.useGlobalNameserversAsDefault ?? true) ? (network.nameservers ?? []) : [],
    searchDomains: (cloudInit.useGlobalSearchDomainsAsDefault ?? true) ? (network.searchDomains ?? []) : [],
  };
  return {
    userData:
      cloudConfig !== undefined
        ? writeCloudConfig(cloudConfig, secrets)
        : raw === undefined
          ? null
          : decode(secrets.first(raw.name, [raw.key, ...formerKeys]), `${raw.name}/${raw.key}`),
    metadata: (macAddresses) => {
      const described = describeNetwork(network, defaults, macAddresses);
      return {
        'instance-id': cloudInit.instanceID || spec.biosUUID || uid,
        'local-hostname': hostName,
        ...(keys.length > 0 && { 'public-keys-data': keys.join('\n') }),
        ...(described !== null && { network: described }),
        ...((ipv4 ?? ipv6) !== undefined && {
          'wait-on-network': { ...(ipv4 !== undefined && { ipv4 }), ...(ipv6 !== undefined && { ipv6 }) },
        }),
      };
    },
  };
}

/** Keys of a Secret that older releases read. */
const formerKeys = ['user-data', 'value'] as const;
const legacyKeys = 'ssh-public-keys';

const linesOf = (text: string | null): string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/**
 * User data may be in the Secret as they are, in base64, or compressed and in base64.
 *
 * @throws InvalidObject what begins as if it were compressed is not, or holds too much
 */
function decode(data: Buffer, where: string): string {
  const bare = data.toString('utf8').replaceAll(/\s/gu, '');
  const isBase64 = bare.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/u.test(bare);
  const packed = isBase64 ? Buffer.from(bare, 'base64') : data;
  try {
    return (isGzip(packed) ? gunzipSync(packed, { maxOutputLength: mostBytes }) : packed).toString('utf8');
  } catch {
    throw droverFailure(
      'InvalidObject',
      `The user data of Secret ${where} are compressed, and broken or larger than ${mostBytes / 1024} KiB`,
    );
  }
}

const isGzip = (data: Buffer): boolean => data[0] === 0x1f && data[1] === 0x8b;
/** vSphere takes half of that. */
const mostBytes = 1024 ** 2;

/** JSON is YAML. */
function writeCloudConfig(
  { defaultUserEnabled = false, users = [], write_files: files = [], ...rest }: CloudConfig,
  secrets: Secrets,
): string {
  const given = users.map(({ passwd, hashed_passwd: hashed, ...user }) => ({
    ...user,
    ...(passwd && { passwd: secrets.text(passwd) }),
    ...(hashed && { hashed_passwd: secrets.text(hashed) }),
  }));
  const document = {
    ...rest,
    // A list of users has no default user, unless it names one.
    ...(given.length > 0 && { users: [...(defaultUserEnabled ? ['default'] : []), ...given] }),
    ...(files.length > 0 && {
      write_files: files.map(({ content, ...file }) => ({
        ...file,
        ...(content !== undefined && { content: contentOf(content, secrets) }),
      })),
    }),
  };
  return `#cloud-config\n${JSON.stringify(document)}\n`;
}

/** A text, or the key of a Secret that has it. */
function contentOf(content: unknown, secrets: Secrets): unknown {
  const { name, key } = (typeof content === 'object' && content !== null ? content : {}) as {
    name?: unknown;
    key?: unknown;
  };
  return typeof name === 'string' && typeof key === 'string' ? secrets.text({ name, key }) : content;
}

/** An empty value takes a key away. */
export const toExtraConfig = (
  { metadata, userData }: CloudInitData,
  macAddresses: readonly (string | null)[],
): Record<string, string> => ({
  'guestinfo.metadata': pack(JSON.stringify(metadata(macAddresses))),
  'guestinfo.metadata.encoding': encoding,
  'guestinfo.userdata': userData === null ? '' : pack(userData),
  'guestinfo.userdata.encoding': userData === null ? '' : encoding,
});

const encoding = 'gzip+base64';
