import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { labClock } from '../../lab/clock.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { DroverObject, WatchEvent } from '../invariants/snapshot.ts';
import { until } from './until.ts';

const retryMs = 200;
const firstListMs = 20_000;

/** Paths of all objects of each of drover's kinds. */
export const objectPaths: Readonly<Record<DroverObject['kind'], string>> = {
  Eviction: resourcePath('kvm.cloud.sap/v1', 'evictions'),
  Hypervisor: resourcePath('kvm.cloud.sap/v1', 'hypervisors'),
  Migration: resourcePath('kvm.cloud.sap/v1alpha1', 'migrations'),
  VirtualMachine: resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachines'),
  VirtualMachineSetResourcePolicy: resourcePath('vmoperator.vmware.com/v1alpha6', 'virtualmachinesetresourcepolicies'),
};

/**
 * Everything that objects of drover's kinds went through since the log was opened, so that no test misses a state that
 * passes.
 */
export interface ObjectLog {
  /** In the order of each kind's watch. What was there at the beginning is `ADDED`. */
  readonly events: readonly WatchEvent[];
  close(): Promise<void>;
}

/** Follows all objects from now on; a watch that breaks is taken up again where it broke. */
export const openObjectLog = (kubernetes: Kubernetes): Promise<ObjectLog> =>
  followObjects<DroverObject>(kubernetes, Object.values(objectPaths));

export interface Followed<Item> {
  /**
   * In the order of each path's watch; of those that a list shows after a watch broke, in the order of
   * their last changes.
   */
  readonly events: readonly { atMs: number; type: WatchEvent['type']; object: Item }[];
  close(): Promise<void>;
}

/** As {@link openObjectLog}, of other kinds. */
export async function followObjects<Item extends FollowedObject>(
  kubernetes: Kubernetes,
  paths: readonly string[],
): Promise<Followed<Item>> {
  const stopping = new AbortController();
  const events: Followed<Item>['events'][number][] = [];
  const keep = (event: FollowedEvent): void => void events.push(event as Followed<Item>['events'][number]);
  const followed = await Promise.all(paths.map((path) => follow(kubernetes, path, keep, stopping.signal)));
  return {
    events,
    async close() {
      stopping.abort();
      await Promise.all(followed.map(({ done }) => done));
    },
  };
}

interface FollowedObject {
  metadata: { uid: string; resourceVersion?: string | undefined };
}

interface FollowedEvent {
  atMs: number;
  type: WatchEvent['type'];
  object: FollowedObject;
}

const byVersion = ({ metadata: a }: FollowedObject, { metadata: b }: FollowedObject): number =>
  Number(a.resourceVersion) - Number(b.resourceVersion);

/** @returns `done`: when it has stopped, after `signal` was aborted */
async function follow(
  kubernetes: Kubernetes,
  path: string,
  keep: (event: FollowedEvent) => void,
  signal: AbortSignal,
): Promise<{ done: Promise<void> }> {
  const known = new Map<string, FollowedObject>();
  const take = (type: WatchEvent['type'], object: FollowedObject, atMs = labClock().now()): void => {
    keep({ atMs, type, object });
    if (type === 'DELETED') known.delete(object.metadata.uid);
    else known.set(object.metadata.uid, object);
  };
  const list = async (): Promise<string> => {
    const answer = await kubernetes.request({ method: 'GET', path }, signal);
    const { metadata, items } = answer as { metadata: { resourceVersion: string }; items: FollowedObject[] };
    // All that a list shows was so at one moment.
    const atMs = labClock().now();
    const uids = new Set(items.map((item) => item.metadata.uid));
    for (const [uid, object] of known) if (!uids.has(uid)) take('DELETED', object, atMs);
    for (const item of items.toSorted(byVersion)) {
      const before = known.get(item.metadata.uid);
      if (before?.metadata.resourceVersion !== item.metadata.resourceVersion)
        take(before === undefined ? 'ADDED' : 'MODIFIED', item, atMs);
    }
    return metadata.resourceVersion;
  };
  const watch = async (): Promise<void> => {
    for (let from = await list(); ; from = await list()) {
      const query = { watch: true, resourceVersion: from, allowWatchBookmarks: false };
      const answer = await kubernetes.stream({ method: 'GET', path, query }, signal);
      for await (const line of createInterface({ input: Readable.from(answer), crlfDelay: Infinity })) {
        const event = JSON.parse(line) as { type: WatchEvent['type']; object: FollowedObject } | { type: 'ERROR' };
        if (event.type === 'ERROR') break;
        take(event.type, event.object);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      // kube-apiserver may be away, because a test took it away.
      await watch().catch(() => undefined);
      if (!signal.aborted) await labClock().sleep(retryMs);
    }
  };
  // Of a kind that was defined just now kube-apiserver has no list yet.
  await until(`a list of ${path}`, firstListMs, async () => ({ version: await list() }));
  return { done: run() };
}
