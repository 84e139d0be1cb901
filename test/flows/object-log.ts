import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { labClock } from '../../lab/clock.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes/resource-path.ts';
import type { DroverObject, WatchEvent } from '../invariants/snapshot.ts';

const retryMs = 200;

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
export async function openObjectLog(kubernetes: Kubernetes): Promise<ObjectLog> {
  const stopping = new AbortController();
  const events: WatchEvent[] = [];
  const followed = await Promise.all(
    Object.values(objectPaths).map((path) => follow(kubernetes, path, events, stopping.signal)),
  );
  return {
    events,
    async close() {
      stopping.abort();
      await Promise.all(followed.map(({ done }) => done));
    },
  };
}

/** @returns `done`: when it has stopped, after `signal` was aborted */
async function follow(
  kubernetes: Kubernetes,
  path: string,
  events: WatchEvent[],
  signal: AbortSignal,
): Promise<{ done: Promise<void> }> {
  const known = new Map<string, DroverObject>();
  const take = (type: WatchEvent['type'], object: DroverObject): void => {
    events.push({ atMs: labClock().now(), type, object });
    if (type === 'DELETED') known.delete(object.metadata.uid);
    else known.set(object.metadata.uid, object);
  };
  const list = async (): Promise<string> => {
    const answer = await kubernetes.request({ method: 'GET', path }, signal);
    const { metadata, items } = answer as { metadata: { resourceVersion: string }; items: DroverObject[] };
    const uids = new Set(items.map((item) => item.metadata.uid));
    for (const [uid, object] of known) if (!uids.has(uid)) take('DELETED', object);
    for (const item of items) {
      const before = known.get(item.metadata.uid);
      if (before?.metadata.resourceVersion !== item.metadata.resourceVersion)
        take(before === undefined ? 'ADDED' : 'MODIFIED', item);
    }
    return metadata.resourceVersion;
  };
  const watch = async (): Promise<void> => {
    for (let from = await list(); ; from = await list()) {
      const query = { watch: true, resourceVersion: from, allowWatchBookmarks: false };
      const answer = await kubernetes.stream({ method: 'GET', path, query }, signal);
      for await (const line of createInterface({ input: Readable.from(answer), crlfDelay: Infinity })) {
        const event = JSON.parse(line) as { type: WatchEvent['type']; object: DroverObject } | { type: 'ERROR' };
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
  await list();
  return { done: run() };
}
