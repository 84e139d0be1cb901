import { createHash } from 'node:crypto';
import { z } from 'zod';

import type { KindRow } from '../../../contracts/kinds/kind.ts';
import { apiVersionOf } from '../../../contracts/kinds/object.ts';
import { type Kind, kindTable } from '../../../contracts/kinds/table.ts';
import { isError } from '../../../runtime/is-error.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { KubernetesObjects, Resource } from '../../../runtime/kubernetes/objects.ts';
import { redactedStart } from '../../../runtime/redaction.ts';
import type { Execution } from '../../lib/context.ts';
import { cutBytes } from './cut-text.ts';

/** An event about an object: of a kind that drover drives, or of another one that it changes. */
export interface NewEvent {
  /** Without a namespace where the kind has none. */
  regarding: ({ kind: Kind } | { resource: Pick<Resource, 'group' | 'version' | 'kind'> }) & {
    namespace?: string;
    name: string;
    uid: string;
  };
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** What events are made with. */
export type EventClient = Pick<KubernetesObjects, 'create'>;

const events = { group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events', schema: z.unknown() };

/** Events about objects without a namespace belong here. */
const clusterNamespace = 'default';

/** Limit of kube-apiserver, in bytes. */
const noteLimit = 1_024;

/**
 * Events are a courtesy: one that is refused must not end what it is about.
 *
 * @param identity what distinguishes it from others of the same object: a repeat finds it by its name, and leaves it as
 * it is
 */
export async function writeEvent(
  { client, scope, clock }: Execution & { client: EventClient },
  { regarding, type, reason, message }: NewEvent,
  identity: readonly string[],
): Promise<void> {
  const { namespace = clusterNamespace, name } = regarding;
  const row: Pick<KindRow, 'group' | 'version' | 'kind' | 'action'> =
    'kind' in regarding ? kindTable[regarding.kind] : regarding.resource;
  const { kind } = row;
  const { uid } = regarding;
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  const event = {
    metadata: { name: `${name.slice(0, 200)}.${digest}`, namespace },
    regarding: {
      apiVersion: apiVersionOf(row),
      kind,
      ...(regarding.namespace !== undefined && { namespace }),
      name,
      uid,
    },
    reportingController: 'drover',
    reportingInstance: 'drover',
    action: row.action ?? 'Reconcile',
    // RFC 3339 with microseconds.
    eventTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    type,
    reason,
    note: cutBytes(message, noteLimit),
  };
  try {
    await client.create(events, event, scope.signal);
  } catch (error) {
    if (
      !isFailure(error, 'KubernetesForbidden') &&
      !isFailure(error, 'ObjectRefused') &&
      !isFailure(error, 'ObjectNotFound')
    )
      throw error;
    scope.warn(`The event ${reason} on ${kind} ${name} was not written: ${error.message}`);
  }
}

/**
 * As {@link writeEvent}, of what is done already: one that cannot be written holds nothing up.
 *
 * @throws the cancel of the activity
 */
export async function announce(
  tools: Execution & { client: EventClient },
  event: NewEvent,
  identity: readonly string[],
): Promise<void> {
  const { scope } = tools;
  try {
    await writeEvent(tools, event, identity);
  } catch (error) {
    scope.signal.throwIfAborted();
    const { namespace = '', name } = event.regarding;
    const kind = 'kind' in event.regarding ? event.regarding.kind : event.regarding.resource.kind;
    const words = redactedStart(isError(error) ? error.message : String(error), 300);
    scope.warn(`The event of ${kind} ${namespace}/${name} was not written: ${words}`);
  }
}
