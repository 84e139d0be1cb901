import * as fc from 'fast-check';
import { readFoundFile } from '../../../activities/agents/iso/iso-store.ts';
import { openVcenter, type Vim } from '../../../activities/vsphere/client.ts';
import { openGateway } from '../../../activities/vsphere/gateway.ts';
import type { SoapAnswer } from '../../../activities/vsphere/http.ts';
import type { VcenterGateway } from '../../../activities/vsphere/types.ts';
import { toObservedVm } from '../../../activities/vsphere/observation/vm.ts';
import { openInventory } from '../../../activities/vsphere/observation/inventory.ts';
import { readSites } from '../../../activities/vsphere/observation/read-sites.ts';
import { openKnownVms } from '../../../activities/vsphere/watch/known-vms.ts';
import { filterOf, watchUpdates } from '../../../activities/vsphere/watch/updates.ts';
import type { ErrorCode } from '../../../contracts/errors.ts';
import { systemClock } from '../../../runtime/clock.ts';
import { edge, type Edge } from '../edge.ts';
import { hostileText, nearText } from '../hostile.ts';

const never = new AbortController().signal;

const envelope = (body: string): string =>
  `<?xml version="1.0"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>${body}</soapenv:Body></soapenv:Envelope>`;
export const answerOf = (method: string, value: string): string =>
  envelope(`<${method}Response xmlns="urn:vim25">${value}</${method}Response>`);
const fault = (type: string, fields = ''): string =>
  envelope(
    `<soapenv:Fault><faultcode>S</faultcode><faultstring>no</faultstring><detail><${type}Fault xmlns="urn:vim25" xsi:type="${type}">${fields}</${type}Fault></detail></soapenv:Fault>`,
  );

export const content = answerOf(
  'RetrieveServiceContent',
  '<returnval><rootFolder type="Folder">group-d1</rootFolder><propertyCollector type="PropertyCollector">propertyCollector</propertyCollector><about><name>vCenter</name><version>8</version><build>1</build><apiVersion>8.0.1.0</apiVersion></about><sessionManager type="SessionManager">SessionManager</sessionManager><customFieldsManager type="CustomFieldsManager">CustomFieldsManager</customFieldsManager><searchIndex type="SearchIndex">SearchIndex</searchIndex></returnval>',
);
export const login = answerOf('Login', '<returnval><key>k</key></returnval>');
export const property = (name: string, type: string, value: string): string =>
  `<propSet><name>${name}</name><val xsi:type="${type}">${value}</val></propSet>`;
const objects = (type: string, properties: string, token = ''): string =>
  answerOf(
    'RetrievePropertiesEx',
    `<returnval>${token}<objects><obj type="${type}">x-1</obj>${properties}</objects></returnval>`,
  );
const vm = objects(
  'VirtualMachine',
  property('name', 'xsd:string', 'web') +
    property('runtime.connectionState', 'VirtualMachineConnectionState', 'connected') +
    property('runtime.powerState', 'VirtualMachinePowerState', 'poweredOn') +
    property('summary.config.instanceUuid', 'xsd:string', 'i') +
    property(
      'config.hardware',
      'VirtualHardware',
      '<numCPU>2</numCPU><memoryMB>64</memoryMB><device xsi:type="VirtualDisk"><key>2000</key><capacityInKB>1</capacityInKB></device><device xsi:type="VirtualVmxnet3"><key>4000</key><backing xsi:type="VirtualEthernetCardNetworkBackingInfo"><deviceName>n</deviceName></backing></device>',
    ) +
    property('config.bootOptions', 'VirtualMachineBootOptions', '<bootDelay>1</bootDelay>') +
    property(
      'guest.net',
      'ArrayOfGuestNicInfo',
      '<GuestNicInfo><ipAddress>192.0.2.1</ipAddress><deviceConfigId>4000</deviceConfigId></GuestNicInfo>',
    ) +
    property(
      'config.extraConfig',
      'ArrayOfOptionValue',
      '<OptionValue xsi:type="OptionValue"><key>drover.uid</key><value xsi:type="xsd:string">u</value></OptionValue>',
    ),
);
const listed = objects(
  'VirtualMachine',
  property('name', 'xsd:string', 'web') +
    property(
      'config.extraConfig[&quot;drover.uid&quot;]',
      'OptionValue',
      '<key>drover.uid</key><value xsi:type="xsd:string">u</value>',
    ),
);
const folder = answerOf('FindByInventoryPath', '<returnval type="Folder">x-1</returnval>');
const info = (state: string, more = ''): string =>
  objects(
    'Task',
    property(
      'info',
      'TaskInfo',
      `<key>x-1</key><descriptionId>d</descriptionId><state>${state}</state><cancelable>true</cancelable>${more}`,
    ),
  );

const collector = answerOf('CreatePropertyCollector', '<returnval type="PropertyCollector">session[1]</returnval>');
const filter = answerOf('CreateFilter', '<returnval type="PropertyFilter">session[2]</returnval>');
const changed = (name: string, value: string): string =>
  `<changeSet><name>${name}</name><op>assign</op>${value}</changeSet>`;
const updates = answerOf(
  'WaitForUpdatesEx',
  `<returnval><version>1</version><filterSet><filter type="PropertyFilter">session[2]</filter><objectSet><kind>enter</kind><obj type="VirtualMachine">vm-1</obj>${changed('name', '<val xsi:type="xsd:string">web</val>')}${changed('runtime.powerState', '<val xsi:type="VirtualMachinePowerState">poweredOn</val>')}${changed('rootSnapshot', '<val xsi:type="ArrayOfManagedObjectReference"><ManagedObjectReference xsi:type="ManagedObjectReference" type="VirtualMachineSnapshot">snapshot-1</ManagedObjectReference></val>')}${changed('guest.ipAddress', '')}${changed('config.extraConfig[&quot;drover.uid&quot;]', '<val xsi:type="OptionValue"><key>drover.uid</key><value xsi:type="xsd:string">u</value></val>')}</objectSet></filterSet><truncated>false</truncated></returnval>`,
);

const profileManager = answerOf(
  'PbmRetrieveServiceContent',
  '<returnval><profileManager type="PbmProfileProfileManager">ProfileManager</profileManager></returnval>',
);
const profiles = answerOf('PbmQueryProfile', '<returnval><uniqueId>p</uniqueId></returnval>');

export interface Wire {
  status: number;
  text: string;
}

/** Mostly an answer that says yes. */
export const wire = (...samples: string[]): fc.Arbitrary<Wire> =>
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ status: fc.constant(200), text: nearText(...samples) }) },
    {
      weight: 3,
      arbitrary: fc.record({
        status: fc.constant(500),
        text: nearText(
          fault('NotAuthenticated'),
          fault('ManagedObjectNotFound', '<obj type="VirtualMachine">x-1</obj>'),
          fault('InvalidPowerState', '<existingState>poweredOn</existingState>'),
        ),
      }),
    },
    { weight: 1, arbitrary: fc.record({ status: fc.constantFrom(200, 301, 404, 429, 500, 503), text: hostileText() }) },
  );

/** A vCenter that answers one method so, and those of the login as it should unless that one is meant. */
const answering = (method: string, wire: Wire, path = ''): VcenterGateway =>
  openGateway(vimAnswering(method, wire, path), { tasks: 8 }, systemClock);

function vimAnswering(method: string, { status, text }: Wire, path = ''): Vim {
  const right: Readonly<Record<string, string>> = {
    RetrieveServiceContent: content,
    Login: login,
    FindByInventoryPath: path || answerOf('FindByInventoryPath', ''),
    CreatePropertyCollector: collector,
    CreateFilter: filter,
    PbmRetrieveServiceContent: profileManager,
    PbmQueryProfile: profiles,
  };
  const answer = (asked: string): SoapAnswer => ({
    cookie: 'vmware_soap_session="the-session"',
    requestId: '',
    ...(asked === method || right[asked] === undefined ? { status, text } : { status: 200, text: right[asked] }),
  });
  const http = {
    send: (request: { method: string }) => Promise.resolve(answer(request.method)),
    close: () => Promise.resolve(),
  };
  const settings = {
    name: 'lab',
    url: 'https://vcenter',
    credential: () => Promise.resolve({ username: 'u', password: 'the-password' }),
    ca: null,
    thumbprint: null,
    budget: { calls: 8, callsPerSecond: 1_000, tasks: 8 },
    places: { zones: {}, storagePolicies: {}, networks: {} },
  };
  return openVcenter(settings, { clock: systemClock, http });
}

/** Of every read of vCenter. */
export const vsphereFailures: ErrorCode[] = [
  'AnswerMalformed',
  'RequestRefused',
  'VirtualMachineNotFound',
  'VirtualMachineStateRefused',
  'VsphereCredentialRefused',
  'VsphereFailed',
  'VsphereNotPermitted',
  'VsphereObjectNotFound',
  'VsphereUnavailable',
];
const isVm = (value: unknown): boolean =>
  value === null || ['poweredOn', 'poweredOff', 'suspended'].includes((value as { powerState: string }).powerState);

export const vsphereEdges: readonly Edge[] = [
  edge({
    name: 'vSphere: where everything is',
    inputs: wire(content),
    failures: vsphereFailures,
    read: (answer) => answering('RetrieveServiceContent', answer).findByPath('/DC0', never),
  }),
  edge({
    name: 'vSphere: a VM',
    inputs: wire(vm),
    failures: vsphereFailures,
    read: (answer) => answering('RetrievePropertiesEx', answer).read('x-1', never),
    holds: isVm,
  }),
  edge({
    name: 'vSphere: all that is told of a VM',
    inputs: wire(vm),
    failures: vsphereFailures,
    read: async (answer) => {
      const seen = await answering('RetrievePropertiesEx', answer).read('x-1', never);
      return seen === null
        ? null
        : toObservedVm(
            seen,
            { location: null, zone: null, hostName: null, cpuMHz: 0, task: null, clusterModule: null },
            'off',
            { interfaces: ['eth0'], extraConfigKeys: ['a'] },
          );
    },
    holds: isVm,
  }),
  edge({
    name: 'vSphere: what is around a VM',
    inputs: wire(
      objects('HostSystem', property('name', 'xsd:string', 'h')),
      objects('Datastore', property('summary.freeSpace', 'xsd:long', '7')),
    ),
    failures: vsphereFailures,
    read: (answer) => {
      const gateway = answering('RetrievePropertiesEx', answer, folder);
      const places = {
        zones: { a: { folder: '/DC0/vm', resourcePool: '/DC0/host/C/Resources' } },
        storagePolicies: { p: { datastores: ['/DC0/datastore/d'], encrypted: false } },
        networks: {},
      };
      const scope = {
        signal: never,
        deadlineMs: Infinity,
        heartbeatDetails: undefined,
        run: null,
        heartbeat: () => undefined,
        scheduledMs: 0,
        waitedMs: 0,
        warn: () => undefined,
      };
      return readSites({ scope }, openInventory(gateway, systemClock), places, {
        object: { namespace: 'team', name: 'web', uid: 'u' },
        folder: null,
        resourcePool: null,
        networks: [{ name: 'eth0', network: 'n' }],
        profileId: 'p',
      });
    },
    holds: (value) => (value as { sites: unknown[] }).sites.length === 1,
  }),
  edge({
    name: 'vSphere: the VMs of a folder',
    inputs: wire(listed),
    failures: vsphereFailures,
    read: (answer) =>
      openInventory(answering('RetrievePropertiesEx', answer), systemClock).vmsIn(['group-1'], false, never),
    holds: (vms) => Array.isArray(vms),
  }),
  edge({
    name: 'vSphere: what has changed',
    inputs: wire(updates, answerOf('WaitForUpdatesEx', '')),
    failures: vsphereFailures,
    read: async (answer) => {
      const vms = openKnownVms();
      for await (const batch of watchUpdates(
        vimAnswering('WaitForUpdatesEx', answer),
        filterOf([{ type: 'Folder', value: 'x-1' }]),
        never,
      )) {
        vms.take(batch.updates);
        return vms.changes();
      }
      return [];
    },
    holds: (news) => Array.isArray(news),
  }),
  edge({
    name: 'vSphere: a task',
    inputs: wire(
      info('running', '<progress>7</progress>'),
      info('success', '<result xsi:type="ManagedObjectReference" type="VirtualMachine">vm-9</result>'),
      info(
        'error',
        '<error><fault xsi:type="SystemError"><reason>r</reason></fault><localizedMessage>m</localizedMessage></error>',
      ),
    ),
    failures: [...vsphereFailures, 'VsphereTaskNotFound'],
    read: async (answer) => (await answering('RetrievePropertiesEx', answer).readTask('x-1', never)).state,
  }),
  edge({
    name: 'vSphere: a file in a datastore',
    inputs: wire(
      objects(
        'Task',
        property(
          'info.result',
          'HostDatastoreBrowserSearchResults',
          '<file><path>a.iso</path><fileSize>7</fileSize></file>',
        ),
      ),
      objects('Task', property('info.result', 'HostDatastoreBrowserSearchResults', '')),
    ),
    failures: vsphereFailures,
    read: (answer) => readFoundFile(answering('RetrievePropertiesEx', answer), 'task-1', '[d] a.iso', never),
    holds: (size) => size === null || Number.isSafeInteger(size),
  }),
  edge({
    name: 'vSphere: the managers of SPBM',
    inputs: wire(profileManager),
    failures: vsphereFailures,
    read: (answer) => answering('PbmRetrieveServiceContent', answer).storageProfiles(never),
    holds: (ids) => ids === null || JSON.stringify(ids) === '["p"]',
  }),
  edge({
    name: 'vSphere: the storage profiles of SPBM',
    inputs: wire(profiles),
    failures: vsphereFailures,
    read: (answer) => answering('PbmQueryProfile', answer).storageProfiles(never),
    holds: (ids) => ids === null || (Array.isArray(ids) && ids.length > 0 && ids.every((id) => id !== '')),
  }),
  edge({
    name: 'vSphere: what was submitted',
    inputs: wire(answerOf('PowerOnVM_Task', '<returnval type="Task">task-1</returnval>')),
    failures: vsphereFailures,
    read: (answer) =>
      answering('PowerOnVM_Task', answer).submit(
        'PowerOnVM_Task',
        { type: 'VirtualMachine', value: 'vm-1' },
        {},
        never,
      ),
    holds: (value) => typeof value === 'string' && value !== '',
  }),
];
