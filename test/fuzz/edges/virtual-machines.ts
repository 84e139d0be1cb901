import * as fc from 'fast-check';

import { createResourcePolicyActivities } from '../../../activities/kubernetes/resource-policy/activities.ts';
import { createReadBackup, createReadBootstrap } from '../../../activities/kubernetes/virtual-machine/activities.ts';
import { hashSecret } from '../../../activities/kubernetes/virtual-machine/hash-secret.ts';
import { readVirtualMachine } from '../../../activities/kubernetes/virtual-machine/read-virtual-machine.ts';
import { readResourcePolicyInput, readVirtualMachineInput } from '../../../activities/lib/input.ts';
import { virtualMachineSchema } from '../../../contracts/crds/virtual-machine.ts';
import { readFacts } from '../../../k8s-bridge/facts.ts';
import { kubeObjectSchema } from '../../../k8s-bridge/kube-object.ts';
import { routesFor } from '../../../k8s-bridge/routes.ts';
import { virtualMachineConfig, virtualMachineSettings } from '../../../runtime/config/virtual-machine-config.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { testClock } from '../../fixtures/activities/nova.ts';
import { type Edge, edge } from '../edge.ts';
import { hostileText, near } from '../hostile.ts';

const never = new AbortController().signal;
const apiVersion = 'vmoperator.vmware.com/v1alpha6';
const metadata = {
  name: 'web',
  namespace: 'team',
  uid: 'u-1',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
  finalizers: ['vmoperator.vmware.com/virtualmachine'],
  labels: { 'vmicache.vmoperator.vmware.com/name': 'vmi-1' },
  annotations: {
    'condition.vmoperator.vmware.com.protected/a': 'A;True;B;c',
    'vmoperator.vmware.com/last-resized-vm-class': '{"Name":"small","UID":"u","Generation":1}',
  },
  managedFields: [
    {
      manager: 'drover',
      fieldsV1: { 'f:status': { 'f:volumes': { 'k:{"name":"a","type":"Managed"}': { 'f:attached': {} } } } },
    },
  ],
};
const conditions = [
  { type: 'Ready', status: 'True', reason: 'True', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
];
const place = { datacenterID: 'dc', datastoreID: 'ds', profileID: 'p' };

/** What a look asks for, each answered with its own. */
const answers = {
  'virtualmachines/': {
    apiVersion,
    kind: 'VirtualMachine',
    metadata,
    spec: {
      className: 'small',
      image: { kind: 'VirtualMachineImage', name: 'vmi-1' },
      storageClass: 'fast',
      reserved: { resourcePolicyName: 'policy' },
      groupName: 'g',
      powerState: 'PoweredOn',
      bootstrap: {
        cloudInit: {
          cloudConfig: {
            users: [{ name: 'jane', passwd: { name: 's', key: 'password' } }],
            write_files: [{ path: '/a', content: { name: 's', key: 'file' } }],
            runcmd: ['ls'],
          },
          sshAuthorizedKeys: ['k'],
          waitOnNetwork4: true,
        },
      },
      network: {
        hostName: 'web',
        nameservers: ['192.0.2.53'],
        interfaces: [
          {
            name: 'eth0',
            network: { name: 'blue' },
            addresses: ['192.0.2.1/24'],
            gateway4: '192.0.2.2',
            routes: [{ to: '198.51.100.0/24', via: '192.0.2.3' }],
          },
        ],
        vlans: [{ name: 'v5', id: 5, link: 'eth0' }],
      },
      hardware: { cdrom: [{ name: 'cd1', image: { kind: 'ClusterVirtualMachineImage', name: 'iso-1' } }] },
    },
    status: { conditions, powerState: 'PoweredOn', volumes: [{ name: 'a', type: 'Managed', attached: true }] },
  },
  'virtualmachineclasses/': {
    apiVersion,
    kind: 'VirtualMachineClass',
    metadata,
    spec: {
      hardware: { cpus: 2, memory: '4Gi' },
      policies: { resources: { requests: { cpu: '500m' } } },
      configSpec: { extraConfig: [{ key: 'a', value: { _value: 'b' } }] },
    },
  },
  '/virtualmachineimages/': {
    apiVersion,
    kind: 'VirtualMachineImage',
    metadata,
    spec: {},
    status: { conditions, providerItemID: 'item', type: 'OVF' },
  },
  'clustervirtualmachineimages/': {
    apiVersion,
    kind: 'ClusterVirtualMachineImage',
    metadata,
    spec: {},
    status: { conditions, providerItemID: 'item', type: 'ISO' },
  },
  'virtualmachinesetresourcepolicies/': {
    apiVersion,
    kind: 'VirtualMachineSetResourcePolicy',
    metadata,
    spec: { folder: 'f', clusterModuleGroups: ['g'] },
    status: { clustermodules: [{ clusterMoID: 'c', groupName: 'g', moduleUUID: 'm' }] },
  },
  'virtualmachineimagecaches/': {
    metadata,
    spec: { providerID: 'item', locations: [place] },
    status: { conditions, locations: [{ ...place, conditions }] },
  },
  'virtualmachinegroups/': {
    metadata,
    spec: { bootOrder: [{ members: [{ name: 'web' }] }] },
    status: { members: [{ name: 'web', placement: { zoneID: 'z', pool: 'p', datastores: [{ id: 'd' }] } }] },
  },
  'storageclasses/': { metadata, parameters: { storagePolicyID: 'profile-1' } },
  'secrets/': {
    metadata,
    data: { password: 'cA==', file: 'Zg==', data: 'H4sIAAAAAAAAA0vOyS9N0U3Oz0vLTAcAoLk6hQ0AAAA=' },
  },
};
const policy = answers['virtualmachinesetresourcepolicies/'];
/** Of one that is being deleted: then others are looked at. */
const policies = {
  'virtualmachinesetresourcepolicies/': {
    ...policy,
    metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { ...policy.spec, resourcePool: { name: 'gold', limits: { cpu: '4', memory: '8Gi' } } },
  },
  virtualmachinesetresourcepolicies: { items: [{ metadata: { ...metadata, uid: 'u-2' }, spec: policy.spec }] },
  virtualmachines: { items: [{ metadata, spec: { reserved: { resourcePolicyName: 'web' } } }] },
};
const answering = (given: Readonly<Record<string, unknown>>): Kubernetes =>
  ({
    request: ({ path }: { path: string }) =>
      Promise.resolve(Object.entries(given).find(([part]) => path.includes(part))?.[1]),
  }) as unknown as Kubernetes;

const settings = {
  ...virtualMachineSettings(virtualMachineConfig.parse({ fastDeploy: 'linked', groups: true }), {
    vcenters: ['vc'],
    cluster: '',
    mode: 'act',
  }),
};
const key = { namespace: 'team', name: 'web' };
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
const nobody = {
  signalWithStart: () => Promise.reject(new Error('asked')),
  stopGate: () => Promise.resolve(),
  audit: { record: () => Promise.resolve() },
  clock: testClock(),
};

/** In the place of the structured one: a Secret with user data in it. */
const raw = {
  ...answers['virtualmachines/'],
  spec: { bootstrap: { cloudInit: { rawCloudConfig: { name: 's', key: 'data' } } } },
};

const withClaim = {
  ...answers['virtualmachines/'],
  spec: { volumes: [{ name: 'a', persistentVolumeClaim: { claimName: 'data' } }] },
  status: { volumes: [{ name: 'a', attached: true, diskUUID: 'u' }] },
};

const routes = routesFor({ copiedLabels: [], imageCacheNamespace: 'drover-system', groups: true }).filter(
  ({ row }) => row.namespaced,
);

export const virtualMachineEdges: readonly Edge[] = [
  {
    name: 'kube-apiserver: a look at a VirtualMachine',
    inputs: near(answers),
    failures: ['AnswerMalformed'],
    read: (given) =>
      readVirtualMachine(
        {
          client: openObjects(answering({ ...answers, ...(given as object) })),
          settings,
          imageCacheNamespace: 'drover-system',
          hashSecret,
          scope,
          ...nobody,
        },
        key,
      ),
  },
  edge({
    name: 'kube-apiserver: user data in a Secret',
    inputs: fc.oneof(
      near(answers['secrets/'].data),
      fc.record({
        data: fc.oneof(
          hostileText().map((text) => Buffer.from(text).toString('base64')),
          fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from([0x1f, 0x8b, 8, 0, ...bytes]).toString('base64')),
        ),
      }),
    ),
    failures: ['AnswerMalformed', 'InvalidObject'],
    read: async (data) => {
      const client = openObjects(answering({ 'virtualmachines/': raw, 'secrets/': { metadata, data } }));
      const { config, missingKeys } = await createReadBootstrap({ client, hashSecret })(
        { ...key, uid: 'u-1' },
        'CloudInit',
        never,
      );
      return [missingKeys, config?.extraConfig(['00:50:56:00:00:01'])];
    },
  }),
  {
    name: 'kube-apiserver: a VirtualMachine that is stored with its VM',
    inputs: near(withClaim),
    failures: ['AnswerMalformed', 'ObjectNotFound', 'InvalidObject'],
    read: (given) =>
      createReadBackup(
        openObjects(
          answering({
            'virtualmachines/': given,
            'persistentvolumeclaims/': { metadata, spec: { accessModes: ['ReadWriteOnce'] } },
          }),
        ),
      )({ ...key, uid: 'u-1' }, never),
  },
  {
    name: 'kube-apiserver: a VirtualMachineSetResourcePolicy, and who names it',
    inputs: near(policies),
    failures: ['AnswerMalformed'],
    read: (given) =>
      createResourcePolicyActivities({
        ...nobody,
        client: openObjects(answering({ ...policies, ...(given as object) })),
        settings: { vcenter: 'vc', mode: 'act', recheckMs: 1, lingerMs: 1, publishMinMs: 1 },
        cluster: '',
        scope: () => scope,
      }).observeResourcePolicy(key),
  },
  {
    name: 'people: input of a VirtualMachineSetResourcePolicy’s run',
    inputs: near({ namespace: 'team', name: 'apart' }),
    failures: ['InvalidInput'],
    read: readResourcePolicyInput,
  },
  {
    name: 'people: input of a VirtualMachine’s run',
    inputs: near({ namespace: 'team', name: 'web', startedBy: 'jane', mode: 'observe' }),
    failures: ['InvalidInput'],
    read: readVirtualMachineInput,
  },
  {
    name: 'bridge: what it keeps of a VirtualMachine, and of what it names',
    inputs: near(
      answers['virtualmachines/'],
      answers['virtualmachineclasses/'],
      answers['virtualmachinegroups/'],
      policies['virtualmachinesetresourcepolicies/'],
    ),
    failures: [],
    read: (given) => {
      const { data: object } = kubeObjectSchema.safeParse(given);
      if (object === undefined) return null;
      return routes.flatMap((route) => [readFacts(route, object, 'act'), readFacts(route, object, 'observe')]);
    },
  },
  {
    name: 'a VirtualMachine by its schema',
    inputs: near(answers['virtualmachines/']),
    failures: [],
    read: (given) => virtualMachineSchema.safeParse(given).data ?? null,
  },
];
