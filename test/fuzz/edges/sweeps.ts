import type { Client } from '@temporalio/client';

import { createSweepActivities } from '../../../activities/machines/sweep/sweep-activities.ts';
import type { ListedVm } from '../../../contracts/machine-safety/driver.ts';
import type { SweepObservation } from '../../../contracts/machine-safety/sweep.ts';
import { machinesConfig, sweepSettings } from '../../../runtime/config/machines-config.ts';
import { systemClock } from '../../../runtime/clock.ts';
import type { Kubernetes, KubernetesRequest } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects } from '../../../runtime/kubernetes/objects.ts';
import { sweepConfigMap } from '../../../runtime/sweep-keeps.ts';
import { testScope } from '../../fixtures/activities/nova.ts';
import { edge, type Edge } from '../edge.ts';
import { near } from '../hostile.ts';

/** What a sweep reads of kube-apiserver before it judges a VM. */

const namespace = 'shoot';
const system = 'drover-system';
const vm = (name: string): ListedVm => ({ providerId: `vsphere://eu-1/${name}`, machineName: name, createdMs: 1 });
const vms = { healthy: vm('healthy'), kept: vm('kept'), lost: vm('lost') };

/** By the last part of the path: a list, or an object by its name. */
const answers = {
  machineclasses: {
    metadata: { resourceVersion: '10', continue: '' },
    items: [
      {
        metadata: { namespace, name: 'small', uid: 'c-1' },
        provider: 'vSphere',
        providerSpec: { region: 'eu-1' },
        nodeTemplate: { region: 'eu-1' },
        secretRef: { namespace: system, name: 'credential' },
      },
    ],
  },
  credential: {
    metadata: { namespace: system, name: 'credential' },
    data: { vsphereHost: 'dmNlbnRlcg==', vspherePassword: 'Y29ycmVjdCBob3JzZQ==' },
  },
  [namespace]: { metadata: { name: namespace, uid: 'n-1' } },
  machines: {
    metadata: { resourceVersion: '12', continue: '' },
    items: [
      {
        metadata: { namespace, name: 'healthy' },
        spec: { providerID: vms.healthy.providerId },
        status: { currentStatus: { phase: 'Running' } },
      },
    ],
  },
  [sweepConfigMap]: {
    metadata: { namespace: system, name: sweepConfigMap },
    data: { 'keep.vsphere.kept': '{"providerId":"vsphere://eu-1/kept","by":"jane","reason":"","at":"2026-01-31"}' },
  },
} as const satisfies Record<string, object>;
type Part = keyof typeof answers;

/** Everything as it should be, but for this. */
function observe(part: Part, answer: unknown): Promise<unknown> {
  const request = ({ path, query = {} }: Pick<KubernetesRequest, 'path' | 'query'>): Promise<unknown> => {
    const last = path.split('/').at(-1) ?? '';
    // Whatever the first page says of a next one, that is the last.
    if (query['continue'] !== undefined) return Promise.resolve({ ...answers[last as Part], items: [] });
    return Promise.resolve(last === part ? answer : answers[last as Part]);
  };
  return createSweepActivities({
    client: openObjects({ request } as unknown as Kubernetes),
    temporal: {} as Client,
    drivers: {
      open: () => ({
        provider: 'vsphere',
        listMachines: () => Promise.resolve(Object.values(vms)),
        deleteMachine: () => Promise.reject(new Error('nothing is deleted')),
        listLeftovers: () => Promise.resolve([]),
        deleteLeftover: () => Promise.resolve(false),
      }),
    },
    readFreeze: () => Promise.resolve({ state: 'thawed' }),
    readFreshFreeze: () => Promise.reject(new Error('nothing is deleted')),
    settings: {
      mode: 'act',
      namespaces: [namespace],
      sweep: sweepSettings(machinesConfig.parse({})),
      systemNamespace: system,
      hasTarget: false,
    },
    cluster: '',
    signalWithStart: () => Promise.resolve(),
    stopGate: () => Promise.resolve(),
    audit: { record: () => Promise.resolve() },
    clock: systemClock,
    scope: () => testScope({ deadlineMs: systemClock.now() + 60_000 }),
  }).observeSweep({ input: { namespace }, isRemembered: true });
}

const candidate = (value: unknown, { providerId }: ListedVm) =>
  (value as SweepObservation).observed.candidates.find((one) => one.providerId === providerId);

/** A class is judged, or says by a code why it is not. */
const isTyped = (value: unknown): boolean =>
  (value as SweepObservation).observed.classes.every(({ failure }) => failure === null || failure.code !== null);

const reading = (part: Part, one: Pick<Edge, 'name' | 'failures'> & Pick<Edge, 'holds'>): Edge =>
  edge({
    ...one,
    inputs: near(answers[part]),
    read: (answer) => observe(part, answer),
    holds: (value, answer) => isTyped(value) && (one.holds?.(value, answer) ?? true),
  });

export const sweepEdges: readonly Edge[] = [
  reading('machineclasses', { name: 'sweep: the MachineClasses', failures: ['AnswerMalformed'] }),
  reading('credential', { name: 'sweep: the Secret of a MachineClass', failures: [] }),
  reading(namespace, { name: 'sweep: the Namespace', failures: ['AnswerMalformed'] }),
  reading('machines', {
    name: 'sweep: the Machines',
    failures: ['AnswerMalformed'],
    // Whatever else is odd about it.
    holds: (value, answer) =>
      candidate(value, vms.healthy) === undefined ||
      !JSON.stringify(answer).includes(`"providerID":"${vms.healthy.providerId}"`),
  }),
  reading(sweepConfigMap, {
    name: 'sweep: the VMs that users keep',
    failures: ['AnswerMalformed'],
    holds: (value, answer) =>
      candidate(value, vms.kept)?.keptBy !== null || !JSON.stringify(answer).includes('"data":{"keep.vsphere.kept":'),
  }),
];
