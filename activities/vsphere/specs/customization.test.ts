import type { LinuxIdentity, SysprepAnswers } from '../../../contracts/virtual-machine/bootstrap.ts';
import { encodeRequest } from '../wire/encode.ts';
import { customizationSpec, neededApi } from './customization.ts';

const linux = (more: Partial<LinuxIdentity> = {}): LinuxIdentity => ({
  kind: 'LinuxPrep',
  hostName: 'web',
  domainName: '',
  timeZone: null,
  hardwareClockIsUtc: null,
  password: null,
  expirePassword: false,
  scriptText: null,
  ...more,
});
const windows = (more: Partial<SysprepAnswers> = {}): SysprepAnswers => ({
  kind: 'Sysprep',
  computerName: 'web',
  fullName: 'Owner',
  orgName: 'Org',
  productId: null,
  guiUnattended: null,
  identification: null,
  runOnce: [],
  license: null,
  expirePassword: false,
  scriptText: null,
  ...more,
});
const identification = {
  joinDomain: 'corp.example',
  domainAdmin: 'admin',
  domainAdminPassword: 'p',
  domainOU: null,
  joinWorkgroup: null,
};
const name = { $type: 'CustomizationFixedName', name: 'web' };
const identityOf = (identity: LinuxIdentity | SysprepAnswers | { kind: 'SysprepText'; value: string }) =>
  customizationSpec({ identity, nameservers: [], searchDomains: [] }, []).identity;

test.each<[what: string, identity: Parameters<typeof identityOf>[0], asked: object]>([
  ['the least of Linux', linux(), { $type: 'CustomizationLinuxPrep', hostName: name, domain: '' }],
  [
    'all of Linux',
    linux({
      domainName: 'example.org',
      timeZone: 'Europe/Berlin',
      hardwareClockIsUtc: false,
      password: 'p',
      expirePassword: true,
      scriptText: '#!/bin/sh',
    }),
    {
      $type: 'CustomizationLinuxPrep',
      hostName: name,
      domain: 'example.org',
      timeZone: 'Europe/Berlin',
      hwClockUTC: false,
      scriptText: '#!/bin/sh',
      resetPassword: true,
      password: { value: 'p', plainText: true },
    },
  ],
  [
    'the least of Windows',
    windows(),
    {
      $type: 'CustomizationSysprep',
      guiUnattended: { timeZone: 85, autoLogon: false, autoLogonCount: 0 },
      userData: { fullName: 'Owner', orgName: 'Org', computerName: name, productId: '' },
      identification: {},
    },
  ],
  [
    'all of Windows',
    windows({
      productId: 'id',
      guiUnattended: { autoLogon: true, autoLogonCount: 2, timeZone: 110, password: 'p' },
      identification: { ...identification, domainOU: 'OU=a' },
      runOnce: ['dir'],
      license: { autoMode: 'perServer', autoUsers: 5 },
      expirePassword: true,
      scriptText: 'rem',
    }),
    {
      $type: 'CustomizationSysprep',
      guiUnattended: { timeZone: 110, autoLogon: true, autoLogonCount: 2, password: { value: 'p', plainText: true } },
      userData: { fullName: 'Owner', orgName: 'Org', computerName: name, productId: 'id' },
      guiRunOnce: { commandList: ['dir'] },
      identification: {
        joinDomain: 'corp.example',
        domainAdmin: 'admin',
        domainAdminPassword: { value: 'p', plainText: true },
        domainOU: 'OU=a',
      },
      licenseFilePrintData: { autoMode: 'perServer', autoUsers: 5 },
      scriptText: 'rem',
      resetPassword: true,
    },
  ],
  [
    'a workgroup',
    windows({
      identification: {
        joinDomain: null,
        domainAdmin: null,
        domainAdminPassword: null,
        domainOU: null,
        joinWorkgroup: 'W',
      },
      license: { autoMode: 'perSeat', autoUsers: null },
    }),
    expect.objectContaining({ identification: { joinWorkgroup: 'W' }, licenseFilePrintData: { autoMode: 'perSeat' } }),
  ],
  [
    'a whole answer file',
    { kind: 'SysprepText', value: '<unattend/>' },
    { $type: 'CustomizationSysprepText', value: '<unattend/>' },
  ],
])('%s', (_, identity, asked) => {
  expect(identityOf(identity)).toEqual(asked);
  // Every field is one that vCenter's schema has.
  expect(() =>
    encodeRequest(
      'CustomizeVM_Task',
      { type: 'VirtualMachine', value: 'vm-1' },
      { spec: customizationSpec({ identity, nameservers: [], searchDomains: [] }, []) },
      null,
    ),
  ).not.toThrow();
});

test('each card has a setting: that of its interface, and DHCP for those that the spec does not name', () => {
  const asked = {
    name: 'eth0',
    dhcp4: false,
    dhcp6: false,
    addresses: ['192.0.2.10/24'],
    gateway4: null,
    gateway6: null,
    nameservers: [],
  };
  expect(
    customizationSpec({ identity: linux(), nameservers: ['192.0.2.53'], searchDomains: ['example.org'] }, [
      { macAddress: '00:50:56:00:00:01', asked },
      { macAddress: null, asked: null },
    ]),
  ).toMatchObject({
    globalIPSettings: { dnsServerList: ['192.0.2.53'], dnsSuffixList: ['example.org'] },
    nicSettingMap: [
      { macAddress: '00:50:56:00:00:01', adapter: { ip: { ipAddress: '192.0.2.10' } } },
      { adapter: { ip: { $type: 'CustomizationDhcpIpGenerator' } } },
    ],
  });
});

test.each<[what: string, identity: Parameters<typeof neededApi>[0], needed: object | null]>([
  ['what every vCenter knows', linux({ scriptText: 's' }), null],
  [
    'of Windows too',
    windows({ identification, guiUnattended: { autoLogon: false, autoLogonCount: 0, timeZone: 85, password: 'p' } }),
    null,
  ],
  ['a whole answer file', { kind: 'SysprepText', value: '' }, null],
  [
    'a password of Linux',
    linux({ password: 'p' }),
    { version: '9.1.0.0', vcenter: '9.1', what: 'password of LinuxPrep' },
  ],
  [
    'a password that expires',
    linux({ password: 'p', expirePassword: true }),
    { version: '9.1.0.0', vcenter: '9.1', what: 'password and expirePasswordAfterNextLogin of LinuxPrep' },
  ],
  [
    'a script of Windows',
    windows({ scriptText: 's', identification: { ...identification, domainOU: 'OU=a' } }),
    { version: '9.1.0.0', vcenter: '9.1', what: 'scriptText of Sysprep' },
  ],
  [
    'an organizational unit',
    windows({ identification: { ...identification, domainOU: 'OU=a' } }),
    { version: '8.0.2.0', vcenter: '8.0 U2', what: 'domainOU of Sysprep' },
  ],
])('the API that it needs: %s', (_, identity, needed) => expect(neededApi(identity)).toEqual(needed));
