import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine-conditions.ts';
import { createLineDecoder } from '../../k8s-bridge/line-decoder.ts';
import type { Kubernetes } from '../../runtime/kubernetes.ts';

/** What VirtualMachines have said, for somebody who only watches. Times are unix ms, of when it was heard. */
export interface VmWatch {
  /** By name: first on and settled, as its spec was at that moment. Forgotten when it is deleted. */
  readonly settledMs: ReadonlyMap<string, number>;
  /** By name: state and sentence. */
  readonly lastSaid: ReadonlyMap<string, string>;
  /** By name: each power state that its status has had, with the time of the change. */
  readonly powerStates: ReadonlyMap<string, readonly { powerState: string; atMs: number }[]>;
  /** Aborted when nothing is heard any more, with the cause. */
  readonly ended: AbortSignal;
  close(): void;
}

/** Watches the collection from now on. */
export async function openVmWatch(api: Kubernetes, path: string): Promise<VmWatch> {
  const ending = new AbortController();
  const settledMs = new Map<string, number>();
  const lastSaid = new Map<string, string>();
  const powerStates = new Map<string, { powerState: string; atMs: number }[]>();
  const ended = new AbortController();
  const { metadata } = (await api.request({ method: 'GET', path, query: { limit: 1 } }, AbortSignal.timeout(10_000))) as { metadata: { resourceVersion: string } };
  // Longer than any measurement.
  const chunks = await api.stream({ method: 'GET', path, query: { watch: true, resourceVersion: metadata.resourceVersion, timeoutSeconds: 7_200 } }, ending.signal);

  const take = (type: string, object: VirtualMachine, atMs: number): void => {
    const { name } = object.metadata;
    if (type === 'DELETED') {
      for (const known of [settledMs, lastSaid, powerStates]) known.delete(name);
      return;
    }
    const said = findCondition(object.status?.conditions, virtualMachineConditions.lifecycle);
    if (said !== undefined) lastSaid.set(name, `${said.reason}: ${said.message}`);
    if (isOnAndSettled(object) && !settledMs.has(name)) settledMs.set(name, atMs);
    const powerState = object.status?.powerState;
    const known = powerStates.get(name) ?? [];
    if (powerState !== undefined && known.at(-1)?.powerState !== powerState) powerStates.set(name, [...known, { powerState, atMs }]);
  };
  const read = async (): Promise<void> => {
    const decoder = createLineDecoder();
    for await (const chunk of chunks) {
      const atMs = Date.now();
      for (const line of decoder.push(chunk)) {
        const { type, object } = JSON.parse(line) as { type: string; object: VirtualMachine };
        if (type === 'ERROR') throw new Error(line.slice(0, 200));
        take(type, object, atMs);
      }
    }
    throw new Error('kube-apiserver has ended it');
  };
  void read().catch((error: unknown) => ended.abort(new Error(`the watch over VirtualMachines: ${error instanceof Error ? error.message : String(error)}`)));
  return {
    settledMs,
    lastSaid,
    powerStates,
    ended: ended.signal,
    close: () => ending.abort(),
  };
}

/** Of its present spec, which wants it on. */
export function isOnAndSettled({ metadata, status }: Pick<VirtualMachine, 'metadata' | 'status'>): boolean {
  const said = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  return said?.status === 'True' && said.observedGeneration === metadata.generation && status?.powerState === 'PoweredOn';
}
