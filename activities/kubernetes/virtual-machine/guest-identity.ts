import type { VirtualMachine, VirtualMachineSpec } from '../../../contracts/crds/virtual-machine.ts';
import type { GuestCustomization, SysprepAnswers } from '../../../contracts/virtual-machine/bootstrap.ts';
import { drivesOf } from '../../../contracts/virtual-machine/older-versions.ts';
import type { Secrets } from './bootstrap-secrets.ts';
import { valueOf } from './bootstrap-secrets.ts';

type Bootstrap = NonNullable<VirtualMachineSpec['bootstrap']>;
type Answers = NonNullable<NonNullable<Bootstrap['sysprep']>['sysprep']>;

/**
 * Whether the guest is customized although its spec has no bootstrap: it gets its name and its addresses, as upstream
 * does it for a Linux guest that does not boot from an ISO. Which system it is, only its VM says.
 */
export const hasDefault = ({ spec = {} }: Pick<VirtualMachine, 'spec'>): boolean =>
  spec.bootstrap === undefined && drivesOf(spec).length === 0;

/** Who the guest becomes by a customization; null: it is not customized. */
export function readIdentity(
  { metadata, spec = {} }: VirtualMachine,
  secrets: Secrets,
): GuestCustomization['identity'] | null {
  const { bootstrap = {}, network = {} } = spec;
  const { linuxPrep = hasDefault({ spec }) ? { hardwareClockIsUTC: true } : undefined, sysprep } = bootstrap;
  const hostName = network.hostName ?? metadata.name;
  const domainName = network.domainName ?? '';
  if (linuxPrep !== undefined) {
    const { password } = linuxPrep;
    return {
      kind: 'LinuxPrep',
      hostName,
      domainName,
      timeZone: linuxPrep.timeZone ?? null,
      hardwareClockIsUtc: linuxPrep.hardwareClockIsUTC ?? null,
      password: password === undefined ? null : secrets.text({ name: password.name, key: password.key ?? 'password' }),
      expirePassword: linuxPrep.expirePasswordAfterNextLogin ?? false,
      scriptText: valueOf(linuxPrep.scriptText, secrets),
    };
  }
  if (sysprep?.rawSysprep !== undefined) return { kind: 'SysprepText', value: secrets.text(sysprep.rawSysprep) };
  return sysprep?.sysprep === undefined ? null : readAnswers(sysprep.sysprep, hostName, domainName, secrets);
}

function readAnswers(
  { userData, guiUnattended: unattended, identification, guiRunOnce, licenseFilePrintData: license, ...more }: Answers,
  hostName: string,
  domainName: string,
  secrets: Secrets,
): SysprepAnswers {
  return {
    kind: 'Sysprep',
    computerName: hostName,
    fullName: userData.fullName,
    orgName: userData.orgName,
    productId: userData.productID === undefined ? null : secrets.text(userData.productID),
    guiUnattended:
      unattended === undefined
        ? null
        : {
            autoLogon: unattended.autoLogon ?? false,
            autoLogonCount: unattended.autoLogonCount ?? 0,
            timeZone: unattended.timeZone ?? 85,
            password: unattended.password === undefined ? null : secrets.text(unattended.password),
          },
    identification:
      identification === undefined
        ? null
        : {
            joinDomain: identification.joinWorkgroup === undefined && domainName !== '' ? domainName : null,
            domainAdmin: identification.domainAdmin ?? null,
            domainAdminPassword:
              identification.domainAdminPassword === undefined
                ? null
                : secrets.text(identification.domainAdminPassword),
            domainOU: identification.domainOU ?? null,
            joinWorkgroup: identification.joinWorkgroup ?? null,
          },
    runOnce: guiRunOnce?.commands ?? [],
    license: license === undefined ? null : { autoMode: license.autoMode, autoUsers: license.autoUsers ?? null },
    expirePassword: more.expirePasswordAfterNextLogin ?? false,
    scriptText: valueOf(more.scriptText, secrets),
  };
}
