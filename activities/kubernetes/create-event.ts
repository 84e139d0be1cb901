import { isAlreadyExists } from '../../runtime/kubernetes-faults.ts';
import { resourcePath } from '../../runtime/kubernetes.ts';
import type { Kubernetes } from '../../runtime/kubernetes.ts';

/** What drover does to each kind, in one word. */
const actions = { Eviction: 'Evict', Hypervisor: 'Reconcile' } as const;

/** An event about an object of drover's. */
export interface NewEvent {
  /** Deterministic: a repeat finds it there. */
  name: string;
  regarding: { kind: keyof typeof actions; name: string; uid: string };
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** RFC 3339 with microseconds. */
  at: string;
}

/** Events about objects without a namespace belong here. */
const namespace = 'default';

/** An event that is there already is left as it is. */
export async function createEvent(kubernetes: Kubernetes, { name, regarding, type, reason, message, at }: NewEvent, signal: AbortSignal): Promise<void> {
  const body = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace },
    regarding: { apiVersion: 'kvm.cloud.sap/v1', kind: regarding.kind, name: regarding.name, uid: regarding.uid },
    reportingController: 'drover',
    reportingInstance: 'drover',
    action: actions[regarding.kind],
    eventTime: at,
    type,
    reason,
    note: message,
  };
  try {
    await kubernetes.request({ method: 'POST', path: resourcePath('events.k8s.io/v1', 'events', { namespace }), body }, signal);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
