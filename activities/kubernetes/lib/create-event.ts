import type { KindRow } from '../../../contracts/kinds/kind.ts';
import { apiVersionOf } from '../../../contracts/kinds/object.ts';
import { type Kind, kindTable } from '../../../contracts/kinds/table.ts';
import { isAlreadyExists } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { Kubernetes } from '../../../runtime/kubernetes/kubernetes.ts';

/** An event about an object of drover's. */
export interface NewEvent {
  /** Deterministic: a repeat finds it there. */
  name: string;
  /** Without a namespace where the kind has none. */
  regarding: { kind: Kind; namespace?: string; name: string; uid: string };
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
  /** RFC 3339 with microseconds. */
  at: string;
}

/** Events about objects without a namespace belong here. */
const clusterNamespace = 'default';

/** An event that is there already is left as it is. */
export async function createEvent(
  kubernetes: Kubernetes,
  { name, regarding, type, reason, message, at }: NewEvent,
  signal: AbortSignal,
): Promise<void> {
  const { kind, namespace = clusterNamespace } = regarding;
  const row: KindRow = kindTable[kind];
  const { action = 'Reconcile' } = row;
  const body = {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name, namespace },
    regarding: { apiVersion: apiVersionOf(row), ...regarding },
    reportingController: 'drover',
    reportingInstance: 'drover',
    action,
    eventTime: at,
    type,
    reason,
    note: message,
  };
  try {
    await kubernetes.request(
      { method: 'POST', path: resourcePath('events.k8s.io/v1', 'events', { namespace }), body },
      signal,
    );
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
