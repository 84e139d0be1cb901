import { createLineDecoder } from '../../k8s-bridge/line-decoder.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';

/** When a plain watch received the states of objects. */
export interface WatchLog {
  /** Unix ms by resourceVersion. */
  readonly observedMs: ReadonlyMap<string, number>;
  close(): void;
}

/** Watches a collection from now on. */
export async function openWatchLog(api: Kubernetes, path: string): Promise<WatchLog> {
  const ending = new AbortController();
  const observedMs = new Map<string, number>();
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
        observedMs.set(event.object.metadata.resourceVersion, atMs);
      }
    }
  };
  // It ends with the connection; the caller notices what is missing then.
  void read().catch(() => undefined);
  return { observedMs, close: () => ending.abort() };
}
