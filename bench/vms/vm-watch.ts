import { findCondition } from '../../contracts/conditions.ts';
import type { VirtualMachine } from '../../contracts/crds/virtual-machine.ts';
import { virtualMachineConditions } from '../../contracts/virtual-machine/conditions.ts';
import type { KubeObject } from '../../k8s-bridge/kube-object.ts';
import { defaultBridgeTimings } from '../../k8s-bridge/run-bridge.ts';
import { startReflector } from '../../k8s-bridge/reflector.ts';
import type { Delta, Identity } from '../../k8s-bridge/store.ts';
import type { Kubernetes } from '../../runtime/kubernetes/kubernetes.ts';
import { systemClock } from '../../runtime/clock.ts';
import { createLogger } from '../../runtime/telemetry/logging.ts';

/** What VirtualMachines have said, for somebody who only watches. Times are unix ms, of when it was heard. */
export interface VmWatch {
  /** By name: first on and settled, as its spec was at that moment. Forgotten when it is deleted. */
  readonly settledMs: ReadonlyMap<string, number>;
  /** By name: state and sentence. */
  readonly lastSaid: ReadonlyMap<string, string>;
  /** By name: each power state that its status has had, with the time of the change. */
  readonly powerStates: ReadonlyMap<string, readonly { powerState: string; atMs: number }[]>;
  close(): Promise<void>;
}

/** What is kept of a VirtualMachine. */
export interface Said extends Identity {
  name: string;
  isOnAndSettled: boolean;
  powerState: string | null;
  words: string | null;
}

/** Watches the collection from now on. kube-apiserver ends a watch when it likes, so it is followed as the bridge does. */
export async function openVmWatch(api: Kubernetes, path: string): Promise<VmWatch> {
  const ending = new AbortController();
  const synced = Promise.withResolvers<void>();
  const notes = openNotes();
  const { done } = startReflector<Said>({
    kubernetes: api,
    path,
    settings: defaultBridgeTimings.reflector,
    keep,
    onDelta: (delta) => notes.take(delta, Date.now()),
    onSynced: synced.resolve,
    clock: systemClock,
    random: Math.random,
    log: createLogger({ level: 'warn', component: 'bench' }),
    abort: ending.signal,
  });
  await synced.promise;
  return {
    ...notes,
    async close() {
      ending.abort();
      await done;
    },
  };
}

/** What is remembered of each change. */
export function openNotes() {
  const settledMs = new Map<string, number>();
  const lastSaid = new Map<string, string>();
  const powerStates = new Map<string, { powerState: string; atMs: number }[]>();
  return {
    settledMs,
    lastSaid,
    powerStates,
    take: ({ type, after: { name, isOnAndSettled: isThere, powerState, words } }: Delta<Said>, atMs: number): void => {
      if (type === 'gone') {
        for (const known of [settledMs, lastSaid, powerStates]) known.delete(name);
        return;
      }
      if (words !== null) lastSaid.set(name, words);
      if (isThere && !settledMs.has(name)) settledMs.set(name, atMs);
      const known = powerStates.get(name) ?? [];
      if (powerState !== null && known.at(-1)?.powerState !== powerState)
        powerStates.set(name, [...known, { powerState, atMs }]);
    },
  };
}

function keep(object: KubeObject): Said {
  const { metadata, status } = object as unknown as VirtualMachine;
  const said = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  return {
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
    name: metadata.name,
    isOnAndSettled: isOnAndSettled({ metadata, status }),
    powerState: status?.powerState ?? null,
    words: said === undefined ? null : `${said.reason}: ${said.message}`,
  };
}

/** Of its present spec, which wants it on. */
export function isOnAndSettled({ metadata, status }: Pick<VirtualMachine, 'metadata' | 'status'>): boolean {
  const said = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  return (
    said?.status === 'True' && said.observedGeneration === metadata.generation && status?.powerState === 'PoweredOn'
  );
}
