import { createHypervisorObjectActivities } from '../../activities/kubernetes/hypervisor/activities.ts';
import type { HypervisorObjectDependencies } from '../../activities/kubernetes/hypervisor/dependencies.ts';
import { observeKubernetes } from '../../activities/kubernetes/hypervisor/observe-kubernetes.ts';
import type { Hypervisor } from '../../contracts/crds/hypervisor.ts';
import type { ObjectMeta } from '../../contracts/crds/schema.ts';
import type { NewHypervisor } from '../../contracts/hypervisor/hypervisor.ts';
import { labClock } from '../../lab/clock.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import type { AuditEntry } from '../../runtime/telemetry/audit.ts';
import { newHypervisor } from '../../workflows/hypervisor/node.ts';
import { type ObjectsCounterpart, type ObjectsTest, type Reference, objectAccess } from './object-activities.ts';

export const kvm = 'kvm.cloud.sap/v1';
export const hypervisorRef = (name: string): Reference => ({ apiVersion: kvm, kind: 'Hypervisor', metadata: { name } });
export const nodeRef = (name: string): Reference => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

/** What kube-apiserver has made of a manifest. */
export interface Made {
  metadata: ObjectMeta & { ownerReferences?: { uid: string; controller?: boolean }[] };
}

/** One Node and its Hypervisor, neither of which is there yet, and drover's activities on them. */
export type HypervisorScene = ReturnType<typeof openScene>;

/** Declares tests each of which has a scene of its own. */
export const onScene =
  (declare: ObjectsTest) =>
  (words: string, body: (scene: HypervisorScene) => Promise<void>): void =>
    declare(words, (counterpart) => body(openScene(counterpart)));

function openScene({ worker, admin, number }: ObjectsCounterpart) {
  const name = `hv-${number}.example.com`;
  const objects = objectAccess(admin);
  const audited: AuditEntry[] = [];
  const warnings: string[] = [];
  const { signal } = new AbortController();
  const client = () => openObjects(worker);

  const activities = (more: Partial<HypervisorObjectDependencies> = {}) =>
    createHypervisorObjectActivities({
      client: client(),
      stopGate: async () => undefined,
      audit: { record: async (entry) => void audited.push(entry) },
      clock: labClock(),
      guardImage: 'busybox:1.37',
      certificates: { namespace: 'kube-system', issuer: 'agents' },
      scope: () => ({
        signal,
        deadlineMs: labClock().now() + 60_000,
        heartbeatDetails: undefined,
        run: { workflowId: `hypervisor/${name}`, runId: 'run-1' },
        heartbeat: () => undefined,
        scheduledMs: labClock().now(),
        waitedMs: 0,
        warn: (message) => void warnings.push(message),
      }),
      ...more,
    });

  const look = (more: Partial<Parameters<typeof observeKubernetes>[0]> = {}) =>
    observeKubernetes(
      {
        client: client(),
        scope: { signal },
        copiedLabels: [],
        agentNamespaces: [],
        guardsDrain: true,
        readCertificate: () => Promise.resolve(null),
        ...more,
      },
      name,
    );

  const readHypervisor = () => objects.read<Hypervisor>(hypervisorRef(name));
  const writeAs = (manager: string, change: object) => objects.merge(hypervisorRef(name), change, manager);

  async function makeNode(labels: Record<string, string> = {}, spec: object = {}): Promise<string> {
    const all = { 'nova.openstack.cloud.sap/virt-driver': 'kvm', 'topology.kubernetes.io/zone': 'zone-a', ...labels };
    const { metadata } = await objects.create<Made>({ ...nodeRef(name), metadata: { name, labels: all }, spec });
    const status = {
      nodeInfo: { bootID: 'boot-1' },
      addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    };
    await objects.mergeStatus(nodeRef(name), status);
    return metadata.uid;
  }

  /** As drover makes it of its Node. */
  async function makeHypervisor(spec: Partial<NewHypervisor['spec']> = {}): Promise<Hypervisor['metadata']> {
    const made = newHypervisor({ ...(await look()).node!, name }, []);
    if (made === null) throw new Error('the Node is no hypervisor');
    await activities().createHypervisor({ ...made, spec: { ...made.spec, ...spec } });
    audited.splice(0);
    return (await readHypervisor()).metadata;
  }

  async function makeBoth(spec: Partial<NewHypervisor['spec']> = {}): Promise<Hypervisor['metadata']> {
    await makeNode();
    return await makeHypervisor(spec);
  }

  return {
    name,
    objects,
    audited,
    warnings,
    signal,
    client,
    activities,
    look,
    readHypervisor,
    writeAs,
    makeNode,
    makeHypervisor,
    makeBoth,
  };
}
