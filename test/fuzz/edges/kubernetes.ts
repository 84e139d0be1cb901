import * as fc from 'fast-check';

import { observeNode } from '../../../activities/kubernetes/eviction/open-eviction.ts';
import { observeKubernetes } from '../../../activities/kubernetes/hypervisor/observe-kubernetes.ts';
import { findCondition } from '../../../contracts/conditions.ts';
import type { Eviction } from '../../../contracts/crds/eviction.ts';
import { readEvictionAnnotations } from '../../../contracts/eviction/annotations.ts';
import { annotations, hypervisorAnnotations, nodeMetadata } from '../../../contracts/ids.ts';
import { conditionsOf } from '../../../contracts/kinds/object.ts';
import { kindTable } from '../../../contracts/kinds/table.ts';
import { readFacts } from '../../../k8s-bridge/facts.ts';
import { kubeObjectSchema, readKubeList } from '../../../k8s-bridge/kube-object.ts';
import { seeLease } from '../../../k8s-bridge/lease.ts';
import { createLineDecoder } from '../../../k8s-bridge/line-decoder.ts';
import { routesFor } from '../../../k8s-bridge/routes.ts';
import { readWatchEvents } from '../../../k8s-bridge/watch-events.ts';
import { refusalFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { type KubernetesObjects, openObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { readStops } from '../../../runtime/stop.ts';
import { shownPools } from '../../../starters/agent-pool/agent-pool-objects.ts';
import { listPools } from '../../../starters/agent-pool/listed-pool.ts';
import { describeEviction, describeMigration } from '../../../starters/eviction/eviction-objects.ts';
import { hypervisorCommands } from '../../../starters/hypervisor/hypervisor-commands.ts';
import { readTakenAway } from '../../../starters/hypervisor/hypervisor-description.ts';
import { shownHypervisors, shownNodes } from '../../../starters/hypervisor/hypervisor-objects.ts';
import { listHosts } from '../../../starters/hypervisor/listed-host.ts';
import { renderAgentPool, renderPools } from '../../../starters/render/agent-pool.ts';
import { renderHosts } from '../../../starters/render/hypervisor.ts';
import { plain } from '../../../starters/render/paint.ts';
import { renderVirtualMachine, renderVirtualMachines } from '../../../starters/render/virtual-machine.ts';
import { listVirtualMachines } from '../../../starters/virtual-machine/listed-virtual-machine.ts';
import { shownVirtualMachines } from '../../../starters/virtual-machine/virtual-machine-objects.ts';
import { poolSpec } from '../../fixtures/starters/agent-pool.ts';
import { type Edge, edge, isOfLines } from '../edge.ts';
import { hostileText, near, nearJson } from '../hostile.ts';

const never = new AbortController().signal;

/** kube-apiserver, or what stands in its place, answering everything with the same. */
const answering = (answer: unknown): Kubernetes =>
  ({ request: () => Promise.resolve(answer) }) as unknown as Kubernetes;

const metadata = {
  name: 'node-1',
  uid: 'u-1',
  resourceVersion: '7',
  generation: 2,
  creationTimestamp: '2026-01-01T00:00:00Z',
  labels: { a: 'b' },
  annotations: { [annotations.cause]: 'rolling-update', [annotations.parallelism]: '4', [annotations.retry]: 'now' },
  finalizers: ['drover.dev/eviction'],
  managedFields: [{ manager: 'drover', operation: 'Apply', fieldsV1: { 'f:status': {} } }],
};
const condition = {
  type: 'Evicting',
  status: 'False',
  observedGeneration: 2,
  lastTransitionTime: '2026-01-01T00:00:00Z',
  reason: 'Succeeded',
  message: 'done',
};

const eviction = {
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Eviction',
  metadata,
  spec: { hypervisor: 'node-1', reason: 'firmware' },
  status: { hypervisorServiceId: 's', outstandingRamMb: 512, outstandingInstances: ['a'], conditions: [condition] },
};
const hypervisor = {
  apiVersion: 'kvm.cloud.sap/v1',
  kind: 'Hypervisor',
  metadata,
  spec: {
    maintenance: 'manual',
    maintenanceReason: 'x',
    overcommit: { vcpus: 2.5 },
    groups: [{ trait: { name: 'CUSTOM_A' } }],
    customTraits: ['CUSTOM_A'],
  },
  status: {
    operatingSystem: { version: '1', firmwareDate: '2026-01-01T00:00:00Z' },
    instances: [{ id: 'a', name: 'vm', active: true }],
    capabilities: { cpuArch: 'x86_64', memory: '512Gi', cpus: 64 },
    cells: [{ cellID: 0, capacity: { memory: '1Ti', cpus: 8 } }],
    aggregates: [{ name: 'az', uuid: 'u', metadata: { k: 'v' } }],
    conditions: [condition],
  },
};
const virtualMachine = {
  apiVersion: 'vmoperator.vmware.com/v1alpha6',
  kind: 'VirtualMachine',
  metadata: {
    ...metadata,
    namespace: 'team',
    annotations: { 'vmoperator.vmware.com/paused': '', 'poweron.check.vmoperator.vmware.com/a': '' },
  },
  spec: { className: 'small', image: { kind: 'VirtualMachineImage', name: 'vmi-1' }, powerState: 'PoweredOn' },
  status: {
    powerState: 'PoweredOff',
    uniqueID: 'vm-61',
    nodeName: 'esx-4',
    network: { primaryIP4: '192.0.2.1' },
    conditions: [{ ...condition, type: 'Lifecycle', status: 'Unknown', reason: 'WaitingForPrerequisites' }],
  },
};
const agentPool = {
  apiVersion: 'agent-forge.containeroo.ch/v1alpha1',
  kind: 'VsphereAgentPool',
  metadata: {
    ...metadata,
    namespace: 'team',
    annotations: { 'drover.dev/approved-deletions': 'worker-1/uid-1,worker-2/uid-2', 'drover.dev/mode': 'observe' },
  },
  spec: poolSpec,
  status: {
    waitingAgentMachines: 2,
    availableAgents: 1,
    conditions: [
      { ...condition, type: 'Ready' },
      { ...condition, type: 'CapacitySatisfied', reason: 'MaxAgents' },
    ],
    iso: { path: 'a/b.iso', sizeBytes: 1, uploadedAt: '2026-01-01T00:00:00Z', history: [{ path: 'c', sha256: 'd' }] },
    ownedVMs: [{ name: 'worker-1', phase: 'Bound', reason: 'AgentBound', agentRef: { name: 'a' } }],
    plannedActions: [{ type: 'DeleteVM', name: 'worker-1', reason: 'ApprovalRequired: a user' }],
  },
};
const migration = {
  apiVersion: 'kvm.cloud.sap/v1alpha1',
  kind: 'Migration',
  metadata,
  spec: {},
  status: {
    origin: 'a',
    destination: 'b',
    type: 'unbounded',
    started: '2026-01-01T00:00:00Z',
    dataTotal: '512 MiB',
    dataRemaining: '1.5 GiB',
  },
};
const node = { status: { nodeInfo: { bootID: 'b' }, conditions: [{ type: 'Ready', status: 'True' }] } };

/** What a look at a hypervisor asks for, each answered with its own. */
const lookAnswers = {
  hypervisors: {
    ...hypervisor,
    metadata: {
      ...metadata,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n' }],
      annotations: Object.fromEntries(Object.values(hypervisorAnnotations).map((key) => [key, 'a'])),
    },
  },
  nodes: {
    metadata: { ...metadata, deletionTimestamp: '2026-01-02T00:00:00Z' },
    spec: { unschedulable: true, taints: [{ key: nodeMetadata.offboardingTaint, effect: 'NoExecute' }] },
    status: {
      nodeInfo: { bootID: 'b' },
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      conditions: [
        { type: 'Terminating', status: 'True', reason: 'Unhealthy', lastTransitionTime: '2026-01-01T00:00:00Z' },
      ],
    },
  },
  evictions: { items: [eviction] },
  pods: {
    items: [
      {
        metadata: { namespace: 'n', name: 'p' },
        spec: { tolerations: [{ key: nodeMetadata.offboardingTaint, operator: 'Exists', tolerationSeconds: 5 }] },
        status: { phase: 'Running' },
      },
    ],
  },
  poddisruptionbudgets: { metadata, spec: { minAvailable: 1 } },
  deployments: {
    metadata,
    spec: {
      replicas: 1,
      template: { spec: { containers: [{ image: 'i', readinessProbe: { exec: { command: ['/bin/true'] } } }] } },
    },
  },
};
const answeringEach = (answers: Readonly<Record<string, unknown>>): Kubernetes =>
  ({
    request: ({ path }: { path: string }) =>
      Promise.resolve(Object.entries(answers).find(([plural]) => path.includes(`/${plural}`))?.[1]),
  }) as unknown as Kubernetes;

/** What is read of an object, and whatever drover then asks of it. */
const client = (name: string, sample: object, read: (kubernetes: KubernetesObjects) => Promise<unknown>): Edge => ({
  name: `kube-apiserver: ${name}`,
  inputs: near(sample),
  failures: ['AnswerMalformed'],
  read: (answer) => read(openObjects(answering(answer))),
});

const judged = (found: Eviction | null): unknown =>
  found === null
    ? null
    : [
        kindTable.Eviction.isReconciled(found, 'act'),
        kindTable.Eviction.isReconciled(found, 'observe'),
        describeEviction(found, 'act'),
        readEvictionAnnotations(found.metadata.annotations),
      ];

/** A Hypervisor as a person is shown it, in one line of the terminal. */
function shown(answer: unknown): unknown {
  const found = shownHypervisors.schema.safeParse(answer).data;
  if (found === undefined) return null;
  const hosts = listHosts([found], [], new Map(), { states: [], attention: false });
  return {
    hosts,
    lines: renderHosts(hosts, Date.parse('2026-02-01T00:00:00Z'), plain, 120),
    commands: hypervisorCommands(found),
    takenAwayAt: readTakenAway(found),
  };
}

/** A VirtualMachine as a person is shown it: in one line, and whole. */
function shownMachine(answer: unknown): unknown {
  const object = shownVirtualMachines.schema.safeParse(answer).data;
  if (object === undefined) return null;
  const nowMs = Date.parse('2026-02-01T00:00:00Z');
  const { namespace, name } = object;
  const list = listVirtualMachines([object], { states: [], attention: false }, nowMs);
  const description = { namespace, name, object, run: null, stops: [], problems: [] };
  return {
    lines: [...renderVirtualMachines(list, nowMs, plain, 120), ...renderVirtualMachine(description, nowMs, plain, 120)],
  };
}

/** A VsphereAgentPool as a person is shown it: in one line, and whole, with what can be typed next. */
function shownPool(answer: unknown): unknown {
  const object = shownPools.schema.safeParse(answer).data;
  if (object === undefined) return null;
  const nowMs = Date.parse('2026-02-01T00:00:00Z');
  const { namespace, name, held } = object;
  const description = { namespace, name, object, agents: null, run: null, held, stops: [], problems: [] };
  return {
    lines: [
      ...renderPools(listPools([object], { attention: false }, nowMs), nowMs, plain, 120),
      ...renderAgentPool(description, nowMs, plain, 120),
    ],
  };
}

const chunked = fc.record({
  lines: fc.array(
    nearJson(
      { type: 'ADDED', object: eviction },
      { type: 'BOOKMARK', object: { metadata } },
      { type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'old' } },
    ),
    { maxLength: 3 },
  ),
  cut: fc.nat(400),
});

async function* chunks({ lines, cut }: { lines: string[]; cut: number }): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''));
  yield bytes.subarray(0, cut);
  yield bytes.subarray(cut);
}

const [route] = routesFor({ copiedLabels: [], imageCacheNamespace: null, groups: false });

export const kubernetesEdges: readonly Edge[] = [
  client('an Eviction', eviction, async (kubernetes) =>
    judged(await kubernetes.get(resources.Eviction, { name: 'node-1' }, never)),
  ),
  client('a list of Evictions', { metadata: {}, items: [eviction] }, async (kubernetes) =>
    (await kubernetes.listValid(resources.Eviction, {}, never)).map(judged),
  ),
  client('a Hypervisor', hypervisor, (kubernetes) => kubernetes.get(resources.Hypervisor, { name: 'node-1' }, never)),
  client('a Migration', migration, async (kubernetes) => {
    const found = await kubernetes.get(resources.Migration, { namespace: 'n', name: 'a' }, never);
    return found === null ? null : describeMigration(found);
  }),
  {
    name: 'kube-apiserver: a Hypervisor that a person asks for',
    inputs: near({
      ...hypervisor,
      status: {
        ...hypervisor.status,
        conditions: [
          { ...condition, type: 'Lifecycle' },
          { ...condition, type: 'Offboarded', message: 'The machine is taken away at 2026-01-31T12:00:00Z' },
        ],
      },
    }),
    failures: [],
    read: shown,
    holds: isOfLines,
  },
  {
    name: 'kube-apiserver: a VirtualMachine that a person asks for',
    inputs: near(virtualMachine),
    failures: [],
    read: shownMachine,
    holds: isOfLines,
  },
  {
    name: 'kube-apiserver: a VsphereAgentPool that a person asks for',
    inputs: near(agentPool),
    failures: [],
    read: shownPool,
    holds: isOfLines,
  },
  {
    name: 'kube-apiserver: a Node that a person asks for',
    inputs: near({
      metadata: { ...metadata, labels: { [nodeMetadata.virtDriver]: 'kvm', [nodeMetadata.lifecycle]: 'true' } },
    }),
    failures: [],
    read: (answer) => shownNodes.schema.safeParse(answer).data,
  },
  client('a Node', node, (kubernetes) => observeNode(kubernetes, 'node-1', never)),
  {
    name: 'kube-apiserver: a look at a hypervisor',
    inputs: near(lookAnswers),
    failures: ['AnswerMalformed'],
    read: (answers) =>
      observeKubernetes(
        {
          client: openObjects(answeringEach({ ...lookAnswers, ...(answers as object) })),
          scope: { signal: never },
          copiedLabels: ['a'],
          agentNamespaces: [],
          guardsDrain: true,
          readCertificate: () => Promise.resolve(null),
        },
        'node-1',
      ),
  },
  edge({
    name: 'kube-apiserver: a refusal',
    takes: 'nothing',
    inputs: fc.tuple(
      fc.constantFrom(400, 401, 403, 404, 409, 410, 422, 429, 500, 503),
      nearJson({ kind: 'Status', message: 'no', reason: 'Conflict', details: { name: 'node-1' } }),
    ),
    failures: ['KubernetesUnavailable', 'KubernetesForbidden', 'ObjectNotFound', 'ObjectConflict', 'ObjectRefused'],
    read: ([status, body]) => {
      throw refusalFailure(status, body, 'GET /apis/x');
    },
  }),
  {
    name: 'kube-apiserver: the ConfigMap of stops',
    inputs: near({
      data: { all: '{"by":"jane","reason":"","at":"now"}', 'kind.Eviction': '{}', 'region.RegionOne': 'x' },
    }),
    failures: ['AnswerMalformed'],
    read: (answer) => readStops(answering(answer), 'drover-system', never),
  },
  edge({
    name: 'bridge: a watch',
    inputs: chunked,
    failures: ['AnswerMalformed', 'KubernetesUnavailable'],
    read: async (body) => {
      const events = [];
      for await (const event of readWatchEvents(chunks(body), () => undefined)) events.push(event);
      return events;
    },
  }),
  edge({
    name: 'bridge: lines of bytes',
    inputs: fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        hostileText().map((text) => new TextEncoder().encode(text)),
      ),
      { maxLength: 4 },
    ),
    failures: ['AnswerMalformed'],
    read: (all) => {
      const decoder = createLineDecoder();
      return all.map((chunk) => decoder.push(chunk));
    },
  }),
  {
    name: 'bridge: a page of a list',
    inputs: near({ metadata: { resourceVersion: '7', continue: '' }, items: [eviction, hypervisor] }),
    failures: ['AnswerMalformed'],
    read: readKubeList,
  },
  {
    name: 'bridge: what it keeps of an object',
    inputs: near(eviction),
    failures: [],
    read: (given) => {
      const { data: object } = kubeObjectSchema.safeParse(given);
      if (object === undefined || route === undefined) return null;
      const facts = readFacts(route, object, 'act');
      return [
        facts,
        readFacts(route, object, 'observe'),
        route.row.stopped?.(object, 'act', 'stopped'),
        findCondition(conditionsOf(object), 'Evicting'),
      ];
    },
  },
  {
    name: 'bridge: a Lease',
    inputs: near({
      metadata: { resourceVersion: '1' },
      spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 1 },
    }),
    failures: ['AnswerMalformed'],
    read: (body) => seeLease(null, body, 0),
  },
  edge({
    name: 'annotations of an Eviction',
    inputs: fc.dictionary(
      fc.constantFrom(...Object.values(annotations)),
      fc.oneof(
        hostileText(),
        fc.constantFrom(
          'admin',
          'true',
          '4',
          'cold-migrate',
          'LocalDisk,Vgpu',
          'jane 2026-01-31T12:00:00Z',
          '2026-01-31T12:00:00Z',
        ),
      ),
    ),
    failures: [],
    read: readEvictionAnnotations,
    holds: (value) => {
      const { asked } = value as ReturnType<typeof readEvictionAnnotations>;
      return (
        asked.parallelism === null ||
        (Number.isInteger(asked.parallelism) && asked.parallelism >= 1 && asked.parallelism <= 64)
      );
    },
  }),
];
