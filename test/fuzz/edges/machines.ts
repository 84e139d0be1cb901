import * as fc from 'fast-check';

import type { KeystoneSession } from '../../../activities/keystone/types.ts';
import { createMachineDrivers, type DriverPorts } from '../../../activities/machines/drivers/drivers.ts';
import type { HttpAnswer } from '../../../activities/openstack/http.ts';
import { openVcenter } from '../../../activities/vsphere/client.ts';
import type { DrivenClass, DriverSecret, ListedVm, MachineDriver } from '../../../contracts/machine-safety/driver.ts';
import { readProviderId } from '../../../contracts/machine-safety/provider-id.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { edge, type Edge } from '../edge.ts';
import { near, nearJson, hostileText } from '../hostile.ts';
import { answerOf, content, login, property, vsphereFailures, wire, type Wire } from './vsphere.ts';

const never = new AbortController().signal;
const closed = (): never => {
  throw new Error('nothing is sent');
};
const open = (ports: Partial<DriverPorts>, machineClass: DrivenClass, secret: DriverSecret): MachineDriver =>
  createMachineDrivers({ openVcenter: closed, openCloud: closed, clock: systemClock, ...ports }).open(
    machineClass,
    secret,
  );

const vsphereClass = {
  namespace: 'team',
  name: 'worker',
  provider: 'vSphere',
  region: null,
  providerSpec: {
    region: 'eu-1',
    datacenter: 'DC0',
    folder: 'team-a',
    tags: { 'mcm.gardener.cloud/cluster': 'shoot-1', 'mcm.gardener.cloud/role': 'node-role' },
  },
};
const vsphereSecret = {
  vsphereHost: 'vcenter.example',
  vsphereUsername: 'u',
  vspherePassword: 'the-password',
  vsphereInsecureSSL: 'false',
};
const openstackClass = {
  ...vsphereClass,
  provider: 'OpenStack',
  providerSpec: {
    spec: { region: 'RegionOne', tags: { 'kubernetes.io-cluster-shoot-1': '1', 'kubernetes.io-role-node-role': '1' } },
  },
};
const openstackSecret = {
  authURL: 'https://keystone/v3',
  username: 'u',
  password: 'the-password',
  tenantName: 't',
  domainName: 'd',
  insecure: 'false',
};

/** What kube-apiserver gives of a class is typed above the provider's part. */
const reading = (sample: typeof vsphereClass | typeof openstackClass, secret: DriverSecret): Edge =>
  edge({
    name: `Machines: a class and a Secret of ${sample.provider}`,
    inputs: fc.record({
      providerSpec: near(sample.providerSpec),
      secret: near(secret),
      provider: fc.oneof(
        { weight: 8, arbitrary: fc.constant(sample.provider) },
        { arbitrary: hostileText(), weight: 1 },
      ),
    }),
    failures: ['InvalidObject'],
    read: ({ providerSpec, secret: given, provider }) => {
      const texts = Object.entries(Object(given) as object).filter(([, value]) => typeof value === 'string');
      return open({}, { ...sample, provider, providerSpec }, Object.fromEntries(texts) as DriverSecret).provider;
    },
  });

const uuid = '4204cc2f-2f5c-bfb6-3d42-0c9e2f6a0b11';
const object = (type: string, id: string, properties: string): string =>
  `<objects><obj type="${type}">${id}</obj>${properties}</objects>`;
const table = object(
  'CustomFieldsManager',
  'CustomFieldsManager',
  property(
    'field',
    'ArrayOfCustomFieldDef',
    '<CustomFieldDef><key>1</key><name>mcm.gardener.cloud/cluster</name></CustomFieldDef><CustomFieldDef><key>2</key><name>mcm.gardener.cloud/role</name></CustomFieldDef>',
  ),
);
const value = (key: number, text: string): string =>
  `<CustomFieldValue xsi:type="CustomFieldStringValue"><key>${key}</key><value>${text}</value></CustomFieldValue>`;
const marked =
  property('name', 'xsd:string', 'worker-1') +
  property('summary.config.uuid', 'xsd:string', uuid) +
  property('customValue', 'ArrayOfCustomFieldValue', value(1, 'shoot-1') + value(2, 'node-role'));
const listed = answerOf(
  'RetrievePropertiesEx',
  `<returnval>${object('Folder', 'x-1', property('name', 'xsd:string', 'team-a'))}${object('VirtualMachine', 'vm-1', marked + property('config.createDate', 'xsd:dateTime', '2026-01-01T00:00:00Z'))}${table}</returnval>`,
);
const one = answerOf(
  'RetrievePropertiesEx',
  `<returnval>${object(
    'VirtualMachine',
    'vm-1',
    marked +
      property('parent', 'ManagedObjectReference', 'x-1').replace('<val ', '<val type="Folder" ') +
      property('runtime.connectionState', 'VirtualMachineConnectionState', 'connected') +
      property('runtime.powerState', 'VirtualMachinePowerState', 'poweredOn') +
      property('config.hardware', 'VirtualHardware', '<numCPU>2</numCPU><memoryMB>64</memoryMB>'),
  )}${table}</returnval>`,
);

const changes: readonly string[] = ['PowerOffVM_Task', 'ReconfigVM_Task', 'Destroy_Task'];

/** A vCenter that reads out its properties so. @param onChange is told of each change that is asked for */
function vsphereDriver({ status, text }: Wire, onChange: (method: string) => void = () => undefined): MachineDriver {
  const right: Readonly<Record<string, string>> = {
    RetrieveServiceContent: content,
    Login: login,
    FindByInventoryPath: answerOf('FindByInventoryPath', '<returnval type="Folder">x-1</returnval>'),
    FindAllByUuid: answerOf('FindAllByUuid', '<returnval type="VirtualMachine">vm-1</returnval>'),
  };
  const send = ({ method }: { method: string }) => {
    if (changes.includes(method)) onChange(method);
    return Promise.resolve({
      cookie: 'vmware_soap_session="the-session"',
      requestId: '' as const,
      ...(right[method] === undefined ? { status, text } : { status: 200, text: right[method] }),
    });
  };
  const http = { send, close: () => Promise.resolve() };
  const port = (settings: Parameters<DriverPorts['openVcenter']>[0]) =>
    openVcenter({ ...settings, budget: { ...settings.budget, callsPerSecond: 1_000 } }, { clock: systemClock, http });
  return open({ openVcenter: port }, vsphereClass, vsphereSecret);
}

/** A Nova that answers everything with the same. */
function openstackDriver({ status, text }: Wire): MachineDriver {
  const answer: HttpAnswer = { headers: {}, requestId: 'req-1', status, text };
  const session: KeystoneSession = {
    region: 'RegionOne',
    http: { send: () => Promise.resolve(answer), close: () => Promise.resolve() },
    token: () => Promise.resolve('the-token'),
    use: (send) => send('the-token'),
    endpoint: () => Promise.resolve('http://nova/v2.1'),
    identity: () => Promise.resolve({ user: 'u', project: 't', projectId: 'p', roles: [], expiresAt: '' }),
    close: () => Promise.resolve(),
  };
  return open({ openCloud: () => session }, openstackClass, openstackSecret);
}

const server = {
  id: uuid,
  name: 'worker-1',
  status: 'ACTIVE',
  tenant_id: 'p',
  created: '2026-01-01T00:00:00Z',
  metadata: { 'kubernetes.io-cluster-shoot-1': '1', 'kubernetes.io-role-node-role': '1' },
  'OS-EXT-STS:vm_state': 'active',
};
const links = [{ rel: 'next', href: 'http://nova/servers/detail?marker=b' }];

const left = {
  ports: [
    {
      id: 'port-1',
      name: 'worker-1',
      project_id: 'p',
      device_id: '',
      device_owner: '',
      tags: Object.keys(server.metadata),
      created_at: '2026-01-01T00:00:00Z',
      revision_number: 3,
    },
  ],
  volumes: [
    {
      id: 'volume-1',
      name: 'worker-1',
      status: 'available',
      attachments: [],
      metadata: server.metadata,
      created_at: '2026-01-01T00:00:00.000000',
    },
  ],
};

const isList = (vms: unknown): boolean =>
  (vms as ListedVm[]).every(
    ({ providerId, createdMs }) =>
      readProviderId(providerId) !== null && (createdMs === null || Number.isFinite(createdMs)),
  );
const marksOf = (text: string): boolean => ['shoot-1', 'node-role'].every((mark) => text.includes(mark));

export const machineEdges: readonly Edge[] = [
  reading(vsphereClass, vsphereSecret),
  reading(openstackClass, openstackSecret),
  edge({
    name: 'Machines: the VMs of a class at vSphere',
    inputs: wire(listed),
    failures: vsphereFailures,
    read: (answer) => vsphereDriver(answer).listMachines(never),
    holds: (vms, { text }) => isList(vms) && ((vms as unknown[]).length === 0 || marksOf(text)),
  }),
  edge({
    name: 'Machines: the deletion of a VM at vSphere',
    inputs: wire(one),
    failures: [...vsphereFailures, 'VirtualMachineNotOwned'],
    async read(answer) {
      const asked: string[] = [];
      const driver = vsphereDriver(answer, (method) => asked.push(method));
      const request = { providerId: `vsphere://eu-1/${uuid}`, machineName: 'worker-1', detachForeignDisks: true };
      try {
        await driver.deleteMachine(request, never);
      } catch (error) {
        if (asked.length === 0) throw error;
      }
      return asked;
    },
    holds: (asked, { text }) => (asked as string[]).length === 0 || (marksOf(text) && text.includes('worker-1')),
  }),
  edge({
    name: 'Machines: the servers of a class at OpenStack',
    inputs: fc.record({
      status: fc.constantFrom(200, 200, 200, 200, 200, 404, 500),
      text: nearJson({ servers: [server] }, { servers: [server], servers_links: links }, { servers: [] }),
    }),
    failures: ['AnswerMalformed', 'CredentialRefused', 'NotPermitted', 'RequestRefused', 'NovaUnavailable'],
    read: (answer) => openstackDriver(answer).listMachines(never),
    holds: (vms, { text }) =>
      isList(vms) && ((vms as unknown[]).length === 0 || /shoot-1.*node-role|node-role.*shoot-1/su.test(text)),
  }),
  edge({
    name: 'Machines: what is left over at OpenStack',
    inputs: fc.record({ status: fc.constantFrom(200, 200, 200, 200, 200, 404, 500), text: nearJson(left) }),
    failures: [
      'AnswerMalformed',
      'CredentialRefused',
      'NotPermitted',
      'RequestRefused',
      'NeutronUnavailable',
      'CinderUnavailable',
    ],
    read: (answer) => openstackDriver(answer).listLeftovers(never),
    holds: (found, { text }) => (found as unknown[]).length === 0 || /shoot-1/u.test(text),
  }),
];
