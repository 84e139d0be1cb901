import { createLineDecoder } from '../../k8s-bridge/line-decoder.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';

/** When the states of objects came by, for somebody who only watches. */
export interface WatchLog {
  /** Unix ms by resourceVersion. */
  readonly seenMs: ReadonlyMap<string, number>;
  close(): void;
}

/** Watches a collection from now on. */
export async function openWatchLog(api: Kubernetes, path: string): Promise<WatchLog> {
  const ending = new AbortController();
  const seenMs = new Map<string, number>();
  const { metadata } = (await api.request(
    { method: 'GET', path, query: { limit: 1 } },
    AbortSignal.timeout(10_000),
  )) as { metadata: { resourceVersion: string } };
  const chunks = await api.stream(
    { method: 'GET', path, query: { watch: true, resourceVersion: metadata.resourceVersion } },
    ending.signal,
  );
  const read = async (): Promise<void> => {
    const decoder = createLineDecoder();
    for await (const chunk of chunks) {
      const atMs = Date.now();
      for (const line of decoder.push(chunk)) {
        const event = JSON.parse(line) as { object: { metadata: { resourceVersion: string } } };
        seenMs.set(event.object.metadata.resourceVersion, atMs);
      }
    }
  };
  // It ends with the connection; what is missing then is found missing by whoever asks.
  void read().catch(() => undefined);
  return { seenMs, close: () => ending.abort() };
}
