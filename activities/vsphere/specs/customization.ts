import type {
  CustomizedInterface,
  GuestCustomization,
  LinuxIdentity,
  SysprepAnswers,
} from '../../../contracts/virtual-machine/bootstrap.ts';
import type { NeededApi } from '../types.ts';
import type {
  CustomizationIdentification,
  CustomizationLinuxPrep,
  CustomizationPassword,
  CustomizationSpec,
  CustomizationSysprep,
} from '../wire/vim/types.ts';
import { adapterMapping } from './adapter-mapping.ts';

type Identity = GuestCustomization['identity'];

/**
 * A guest customization as vCenter is asked for it. Pure.
 *
 * @param cards of the VM, with what the spec asks for each: vCenter wants a setting for all; those that the spec does
 * not name ask by DHCP
 * @throws InvalidObject for addresses that a customization cannot set
 */
export const customizationSpec = (
  { identity, nameservers, searchDomains }: Omit<GuestCustomization, 'hash' | 'interfaces'>,
  cards: readonly { macAddress: string | null; asked: CustomizedInterface | null }[],
): CustomizationSpec => ({
  identity: identitySettings(identity),
  globalIPSettings: { dnsSuffixList: searchDomains, dnsServerList: nameservers },
  nicSettingMap: cards.map(({ macAddress, asked }) => adapterMapping(asked, macAddress)),
});

function identitySettings(identity: Identity): CustomizationSpec['identity'] {
  switch (identity.kind) {
    case 'LinuxPrep':
      return linuxPrep(identity);
    case 'Sysprep':
      return sysprep(identity);
    case 'SysprepText':
      return { $type: 'CustomizationSysprepText', value: identity.value };
  }
}

const linuxPrep = ({
  hostName,
  domainName,
  timeZone,
  hardwareClockIsUtc,
  password,
  expirePassword,
  scriptText,
}: LinuxIdentity): CustomizationLinuxPrep => ({
  $type: 'CustomizationLinuxPrep',
  hostName: fixedName(hostName),
  domain: domainName,
  ...(timeZone !== null && { timeZone }),
  ...(hardwareClockIsUtc !== null && { hwClockUTC: hardwareClockIsUtc }),
  ...(scriptText !== null && { scriptText }),
  ...(expirePassword && { resetPassword: true }),
  ...(password !== null && { password: plain(password) }),
});

/** Windows' index of UTC. */
const utc = 85;

const sysprep = ({
  computerName,
  fullName,
  orgName,
  productId,
  guiUnattended,
  identification,
  runOnce,
  license,
  expirePassword,
  scriptText,
}: SysprepAnswers): CustomizationSysprep => ({
  $type: 'CustomizationSysprep',
  guiUnattended: {
    timeZone: guiUnattended?.timeZone ?? utc,
    autoLogon: guiUnattended?.autoLogon ?? false,
    autoLogonCount: guiUnattended?.autoLogonCount ?? 0,
    ...passwordOf(guiUnattended?.password ?? null, 'password'),
  },
  userData: { fullName, orgName, computerName: fixedName(computerName), productId: productId ?? '' },
  ...(runOnce.length > 0 && { guiRunOnce: { commandList: runOnce } }),
  identification: identification === null ? {} : identificationOf(identification),
  ...(license !== null && {
    licenseFilePrintData: {
      autoMode: license.autoMode,
      ...(license.autoUsers !== null && { autoUsers: license.autoUsers }),
    },
  }),
  ...(scriptText !== null && { scriptText }),
  ...(expirePassword && { resetPassword: true }),
});

const identificationOf = ({
  joinWorkgroup,
  joinDomain,
  domainAdmin,
  domainAdminPassword,
  domainOU,
}: NonNullable<SysprepAnswers['identification']>): CustomizationIdentification => ({
  ...(joinWorkgroup !== null && { joinWorkgroup }),
  ...(joinDomain !== null && { joinDomain }),
  ...(domainAdmin !== null && { domainAdmin }),
  ...passwordOf(domainAdminPassword, 'domainAdminPassword'),
  ...(domainOU !== null && { domainOU }),
});

const fixedName = (name: string): CustomizationLinuxPrep['hostName'] => ({ $type: 'CustomizationFixedName', name });

/** vCenter would decrypt what does not say that it is plain; it stores it encrypted itself. */
const plain = (value: string): CustomizationPassword => ({ value, plainText: true });

const passwordOf = <Name extends string>(value: string | null, name: Name): { [Key in Name]?: CustomizationPassword } =>
  value === null ? {} : ({ [name]: plain(value) } as { [Key in Name]: CustomizationPassword });

/**
 * What of it not every vCenter knows, the latest first; null: nothing. An older one would refuse the whole request.
 * Pure. Source: the versions that govmomi's types name.
 */
export function neededApi(identity: Identity): NeededApi | null {
  if (identity.kind === 'SysprepText') return null;
  const { kind, expirePassword } = identity;
  const what = [
    ...(kind === 'LinuxPrep' && identity.password !== null ? ['password'] : []),
    ...(kind === 'Sysprep' && identity.scriptText !== null ? ['scriptText'] : []),
    ...(expirePassword ? ['expirePasswordAfterNextLogin'] : []),
  ];
  if (what.length > 0) return { version: '9.1.0.0', vcenter: '9.1', what: `${what.join(' and ')} of ${kind}` };
  const domainOU = kind === 'Sysprep' ? (identity.identification?.domainOU ?? null) : null;
  return domainOU === null ? null : { version: '8.0.2.0', vcenter: '8.0 U2', what: `domainOU of ${kind}` };
}
