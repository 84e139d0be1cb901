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

/** What a plain watch has received of VirtualMachines. Times are unix ms, of receipt. */
export interface VmWatch {
  /** By name: first on and reconciled, as its spec was at that moment. Removed when it is deleted. */
  readonly reconciledMs: ReadonlyMap<string, number>;
  /** By name: reason and message. */
  readonly lastMessage: ReadonlyMap<string, string>;
  /** By name: each power state that its status has had, with the time of the change. */
  readonly powerStates: ReadonlyMap<string, readonly { powerState: string; atMs: number }[]>;
  close(): Promise<void>;
}

/** What is kept of a VirtualMachine. */
export interface WatchedVm extends Identity {
  name: string;
  isOnAndReconciled: boolean;
  powerState: string | null;
  message: string | null;
}

/**
 * Watches the collection from now on. kube-apiserver ends a watch when it likes, so it is followed as the bridge does.
 */
export async function openVmWatch(api: Kubernetes, path: string): Promise<VmWatch> {
  const ending = new AbortController();
  const synced = Promise.withResolvers<void>();
  const vmLog = openVmLog();
  const { done } = startReflector<WatchedVm>({
    kubernetes: api,
    path,
    settings: defaultBridgeTimings.reflector,
    keep: toWatchedVm,
    onDelta: (delta) => vmLog.record(delta, Date.now()),
    onSynced: synced.resolve,
    clock: systemClock,
    random: Math.random,
    log: createLogger({ level: 'warn', component: 'bench' }),
    abort: ending.signal,
  });
  await synced.promise;
  return {
    ...vmLog,
    async close() {
      ending.abort();
      await done;
    },
  };
}

/** What is recorded of each change. */
export function openVmLog() {
  const reconciledMs = new Map<string, number>();
  const lastMessage = new Map<string, string>();
  const powerStates = new Map<string, { powerState: string; atMs: number }[]>();
  return {
    reconciledMs,
    lastMessage,
    powerStates,
    record: (
      { type, after: { name, isOnAndReconciled: isThere, powerState, message } }: Delta<WatchedVm>,
      atMs: number,
    ): void => {
      if (type === 'gone') {
        for (const known of [reconciledMs, lastMessage, powerStates]) known.delete(name);
        return;
      }
      if (message !== null) lastMessage.set(name, message);
      if (isThere && !reconciledMs.has(name)) reconciledMs.set(name, atMs);
      const known = powerStates.get(name) ?? [];
      if (powerState !== null && known.at(-1)?.powerState !== powerState)
        powerStates.set(name, [...known, { powerState, atMs }]);
    },
  };
}

function toWatchedVm(object: KubeObject): WatchedVm {
  const { metadata, status } = object as unknown as VirtualMachine;
  const lifecycle = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  return {
    uid: object.metadata.uid,
    resourceVersion: object.metadata.resourceVersion,
    name: metadata.name,
    isOnAndReconciled: isOnAndReconciled({ metadata, status }),
    powerState: status?.powerState ?? null,
    message: lifecycle === undefined ? null : `${lifecycle.reason}: ${lifecycle.message}`,
  };
}

/** Of its present spec, which wants it on. */
export function isOnAndReconciled({ metadata, status }: Pick<VirtualMachine, 'metadata' | 'status'>): boolean {
  const lifecycle = findCondition(status?.conditions, virtualMachineConditions.lifecycle);
  return (
    lifecycle?.status === 'True' &&
    lifecycle.observedGeneration === metadata.generation &&
    status?.powerState === 'PoweredOn'
  );
}
