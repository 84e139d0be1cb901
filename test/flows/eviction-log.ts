import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Eviction } from '../../contracts/crds/eviction.ts';
import type { Kubernetes } from '../../runtime/kubernetes.ts';
import { resourcePath } from '../../runtime/kubernetes.ts';

const retryMs = 200;

/** An Eviction as kube-apiserver told of it. */
export interface EvictionEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: Eviction;
}

/** Everything that Evictions went through since the log was opened, so that no test misses a state that passes. */
export interface EvictionLog {
  readonly events: readonly EvictionEvent[];
  /** By name, as last told of; null when deleted or never seen. */
  latest(name: string): Eviction | null;
  /** What was told of the Eviction of that name, in order; of the newest, where there were several one after the other. */
  of(name: string): Eviction[];
  close(): Promise<void>;
}

/** Follows all Evictions from now on; a watch that breaks is taken up again where it broke. */
export async function openEvictionLog(kubernetes: Kubernetes): Promise<EvictionLog> {
  const path = resourcePath('kvm.cloud.sap/v1', 'evictions');
  const stopping = new AbortController();
  const events: EvictionEvent[] = [];
  const latest = new Map<string, Eviction>();
  const list = async (): Promise<string> => {
    const { metadata, items } = (await kubernetes.request({ method: 'GET', path }, stopping.signal)) as { metadata: { resourceVersion: string }; items: Eviction[] };
    for (const item of items) if (latest.get(item.metadata.name)?.metadata.resourceVersion !== item.metadata.resourceVersion) take({ type: 'MODIFIED', object: item });
    const names = new Set(items.map((item) => item.metadata.name));
    for (const [name, object] of latest) if (!names.has(name)) take({ type: 'DELETED', object });
    return metadata.resourceVersion;
  };
  const take = (event: EvictionEvent): void => {
    events.push(event);
    if (event.type === 'DELETED') latest.delete(event.object.metadata.name);
    else latest.set(event.object.metadata.name, event.object);
  };
  const follow = async (): Promise<void> => {
    for (let from = await list(); ; from = await list()) {
      const answer = await kubernetes.stream({ method: 'GET', path, query: { watch: true, resourceVersion: from, allowWatchBookmarks: false } }, stopping.signal);
      for await (const line of createInterface({ input: Readable.from(answer), crlfDelay: Infinity })) {
        const event = JSON.parse(line) as EvictionEvent | { type: 'ERROR' };
        if (event.type === 'ERROR') break;
        take(event);
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // kube-apiserver may be away, because a test took it away.
      await follow().catch(() => undefined);
      if (!stopping.signal.aborted) await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  };
  await list();
  const done = run();
  return {
    events,
    latest: (name) => latest.get(name) ?? null,
    of(name) {
      const named = events.map(({ object }) => object).filter(({ metadata }) => metadata.name === name);
      const newest = named.at(-1)?.metadata.uid;
      return named.filter(({ metadata }) => metadata.uid === newest);
    },
    async close() {
      stopping.abort();
      await done;
    },
  };
}
