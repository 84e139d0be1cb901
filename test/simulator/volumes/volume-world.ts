import type { DataVolume } from '../../../contracts/crds/data-volume.ts';
import { clonePolicy, clonePolicyBinding } from '../../../contracts/data-volume/clone-policy.ts';
import { dataVolumeFinalizer } from '../../../contracts/data-volume/metadata.ts';
import { applyObject } from '../../../lab/kubernetes-objects.ts';
import { labClock, withClock } from '../../../lab/clock.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';
import { openObjects, type KubernetesObjects } from '../../../runtime/kubernetes/objects.ts';
import { resources } from '../../../runtime/kubernetes/resources.ts';
import { storageResources, type Claim, type Snapshot } from '../../../runtime/kubernetes/storage-resources.ts';
import { violations } from '../../invariants/violations.ts';
import { loadWorkflows } from '../bundle.ts';
import { deploy, type Deployment, type DeploymentOptions } from '../deployment.ts';
import { snapshotOf } from '../snapshot.ts';
import type { CsiDriver, CsiDriverOptions } from './csi-driver.ts';
import type { Storage } from './storage.ts';
import { installClasses, storageNames } from './storage-classes.ts';

export const second = 1_000;
export const minute = 60 * second;
/** Any signal will do: in virtual time nothing hangs. */
export const never = new AbortController().signal;

/** Where sources and their clones are, unless a story says otherwise. */
export const home = 'team';
export const elsewhere = 'images';

/** A cluster with storage, a worker and a bridge, and time that passes at will. */
export interface VolumeWorld {
  readonly deployment: Deployment;
  /** kube-apiserver, as its administrator. */
  readonly api: Kubernetes;
  readonly client: KubernetesObjects;
  readonly storage: Storage;
  /** Of the classes of storage-classes.ts. */
  readonly driver: CsiDriver;
  pass(ms: number): Promise<void>;
  /** Until it is so, for at most that long; whether it is. */
  until(isSo: () => Promise<boolean>, withinMs?: number): Promise<boolean>;
  /** A claim that is bound, with something on its volume. */
  makeSource(name: string, content: string, spec?: object, namespace?: string): Promise<Claim>;
  /** A DataVolume. `spec` is merged into a clone of `source`. */
  makeVolume(name: string, given: VolumeOptions): Promise<void>;
  volume(name: string, namespace?: string): Promise<DataVolume>;
  /** Until it is in that phase. @throws Error that tells what it says, where it never is */
  inPhase(name: string, phase: string, withinMs?: number, namespace?: string): Promise<DataVolume>;
  /** Until it has succeeded, and everything temporary is gone. @throws as {@link VolumeWorld.inPhase} */
  made(name: string, withinMs?: number, namespace?: string): Promise<DataVolume>;
  removeVolume(name: string, namespace?: string): Promise<void>;
  /** Whether there is neither the DataVolume nor its claim. */
  isGone(name: string, namespace?: string): Promise<boolean>;
  claim(name: string, namespace?: string): Promise<Claim | null>;
  snapshots(namespace?: string): Promise<Snapshot[]>;
  /** A Pod on a node that uses the claim. */
  use(claim: string, pod: string, namespace?: string): Promise<void>;
  endUse(pod: string, namespace?: string): Promise<void>;
  /** `CloneScheduled: Cloning from …`, of the DataVolume, in order. */
  events(name: string): string[];
  /** Phases that its status has shown, in order. */
  phases(name: string): string[];
  violations(): Promise<string[]>;
}

export interface VolumeOptions {
  namespace?: string;
  source?: object | null;
  /** Default: as large as its source. */
  size?: string | null;
  storageClass?: string | null;
  spec?: object;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
}

export interface VolumeWorldOptions extends Partial<Omit<DeploymentOptions, 'settings' | 'parts' | 'drivers'>> {
  /** As in `dataVolumes`. */
  settings?: object;
  /** Other sections of the settings. */
  sections?: object;
  driver?: Partial<CsiDriverOptions>;
  otherDrivers?: readonly CsiDriverOptions[];
  /** Whether the policy on sources is in force. Default: it is. */
  hasPolicy?: boolean;
  /** Before drover is told of anything: default classes, namespaces, and the policy on sources are there. */
  prepare?: (api: Kubernetes, deployment: Deployment) => Promise<void>;
}

const forAtMostMs = 48 * 60 * minute;
/** Between two looks. */
const lookMs = 200;

export const volumeSettings = (own: object = {}): object => ({
  modes: { Eviction: 'off', DataVolume: 'act' },
  dataVolumes: { policyDelayMs: 0, ...own },
});

export const ofClaim = (name: string, namespace = home): object => ({ pvc: { namespace, name } });
export const ofSnapshot = (name: string, namespace = home): object => ({ snapshot: { namespace, name } });

/** A policy on sources, or its binding. */
export const installPolicy = ({ answer }: Deployment['kubernetes'], body: { kind: string }): unknown => {
  const plural = body.kind.endsWith('Binding') ? 'validatingadmissionpolicybindings' : 'validatingadmissionpolicies';
  return answer({ method: 'POST', path: `/apis/admissionregistration.k8s.io/v1/${plural}`, body });
};

/** Runs a story in a world of its own: a cluster with a CSI driver, and nothing to clone yet. */
export async function inVolumeWorld<Result>(
  { settings, sections, driver = {}, otherDrivers = [], hasPolicy = true, prepare, ...options }: VolumeWorldOptions,
  story: (world: VolumeWorld) => Promise<Result>,
): Promise<Result> {
  const deployment = deploy({
    bundle: await loadWorkflows(),
    seed: 1,
    parts: ['storage'],
    drivers: [{ name: storageNames.driver, ...driver }, ...otherDrivers],
    settings: { ...volumeSettings(settings), ...sections },
    bridge: true,
    ...options,
  });
  const { simulation, kubernetes, storage } = deployment;
  if (storage === null) throw new Error('a world of volumes has storage');
  const api = kubernetes.admin;
  const client = openObjects(api);
  const pass = (ms: number): Promise<void> => labClock().sleep(ms);
  const until = async (isSo: () => Promise<boolean>, withinMs = 10 * minute): Promise<boolean> => {
    const endMs = labClock().now() + withinMs;
    for (;;) {
      if (await isSo()) return true;
      if (labClock().now() >= endMs) return false;
      await pass(lookMs);
    }
  };
  const find = (name: string, namespace: string) => client.get(resources.DataVolume, { namespace, name }, never);
  const claim = (name: string, namespace = home) =>
    client.get(storageResources.PersistentVolumeClaim, { namespace, name }, never);

  const world: VolumeWorld = {
    deployment,
    api,
    client,
    storage,
    driver: storage.driver(storageNames.driver),
    pass,
    until,
    async makeSource(name, content, spec = {}, namespace = home) {
      await applyObject(api, {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { namespace, name },
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: storageNames.classes.plain,
          resources: { requests: { storage: '1Gi' } },
          ...spec,
        },
      });
      const isBound = await until(async () => (await claim(name, namespace))?.status?.phase === 'Bound', minute);
      const made = await claim(name, namespace);
      if (!isBound || made === null) throw new Error(`source ${namespace}/${name} is not bound`);
      storage.write(namespace, name, content);
      return made;
    },
    async makeVolume(name, { namespace = home, source, size = null, storageClass, spec = {}, annotations, labels }) {
      const storageSpec = {
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Filesystem',
        ...(storageClass !== null && { storageClassName: storageClass ?? storageNames.classes.plain }),
        ...(size !== null && { resources: { requests: { storage: size } } }),
      };
      await applyObject(api, {
        apiVersion: 'cdi.kubevirt.io/v1beta1',
        kind: 'DataVolume',
        metadata: { namespace, name, ...(annotations && { annotations }), ...(labels && { labels }) },
        spec: { ...(source !== null && { source: source ?? ofClaim('golden') }), storage: storageSpec, ...spec },
      });
    },
    async volume(name, namespace = home) {
      const found = await find(name, namespace);
      if (found === null) throw new Error(`there is no DataVolume ${namespace}/${name}`);
      return found;
    },
    async inPhase(name, phase, withinMs = 10 * minute, namespace = home) {
      const isSo = await until(async () => (await find(name, namespace))?.status?.phase === phase, withinMs);
      const found = await world.volume(name, namespace);
      if (!isSo) throw new Error(`${name} is not ${phase} but ${JSON.stringify(found.status)}`);
      return found;
    },
    async made(name, withinMs = 10 * minute, namespace = home) {
      await world.inPhase(name, 'Succeeded', withinMs, namespace);
      const isReleased = async (): Promise<boolean> =>
        !(await world.volume(name, namespace)).metadata.finalizers?.includes(dataVolumeFinalizer);
      if (!(await until(isReleased, withinMs))) throw new Error(`${name} has succeeded, and is not released`);
      return await world.volume(name, namespace);
    },
    removeVolume: (name, namespace = home) => client.delete(resources.DataVolume, { namespace, name }, never),
    isGone: async (name, namespace = home) =>
      (await find(name, namespace)) === null && (await claim(name, namespace)) === null,
    claim,
    snapshots: (namespace) => client.list(storageResources.VolumeSnapshot, { namespace }, never),
    use: (claimName, pod, namespace = home) =>
      applyObject(api, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { namespace, name: pod },
        spec: {
          nodeName: 'node-1',
          containers: [{ name: 'main', image: 'none', volumeMounts: [{ name: 'disk', mountPath: '/disk' }] }],
          volumes: [{ name: 'disk', persistentVolumeClaim: { claimName } }],
        },
        status: { phase: 'Running' },
      }),
    async endUse(pod, namespace = home) {
      const path = `/api/v1/namespaces/${namespace}/pods/${pod}`;
      await api.request({ method: 'DELETE', path, query: { gracePeriodSeconds: 0 } }, never);
    },
    events: (name) =>
      kubernetes.objects('events').flatMap((event) => {
        const { regarding, reason, note } = event as unknown as Record<'reason' | 'note', string> & {
          regarding?: { kind?: string; name?: string };
        };
        return regarding?.kind === 'DataVolume' && regarding.name === name ? [`${reason}: ${note}`] : [];
      }),
    phases: (name) =>
      kubernetes.changes
        .filter(({ resource, object }) => resource.kind === 'DataVolume' && object.metadata.name === name)
        .map(({ object }) => (object as unknown as DataVolume).status?.phase ?? '')
        .filter((phase, index, all) => phase !== all[index - 1]),
    async violations() {
      const seen = { sinceMs: 0, expected: new Map(), ownChanges: [], hosts: null, vms: null };
      return violations(await snapshotOf(deployment, seen));
    },
  };
  try {
    const run = async (): Promise<Result> => {
      installClasses(kubernetes);
      for (const name of [home, elsewhere])
        await applyObject(api, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      if (hasPolicy) for (const object of [clonePolicy, clonePolicyBinding]) installPolicy(kubernetes, object);
      await prepare?.(api, deployment);
      return await story(world);
    };
    return (await simulation.run(withClock(simulation.clock, run), forAtMostMs)) as Result;
  } finally {
    deployment.close();
  }
}

/** `False CloneWithoutSource`, by the condition's type. */
export const conditionOf = ({ status }: Pick<DataVolume, 'status'>, type: string): string => {
  const found = status?.conditions?.find((one) => one.type === type);
  return found === undefined ? 'none' : `${found.status} ${found.reason ?? ''}`;
};
