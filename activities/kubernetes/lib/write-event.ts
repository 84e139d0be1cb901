import { createHash } from 'node:crypto';

import type { Clock } from '../../../runtime/clock.ts';
import { isFailure } from '../../../runtime/kubernetes/kubernetes-faults.ts';
import type { NewEvent } from './create-event.ts';
import { cutBytes } from './cut-text.ts';
import type { ActivityScope } from '../../lib/context.ts';

/** Limit of kube-apiserver, in bytes. */
const noteLimit = 1_024;

interface EventTools {
  client: { createEvent(event: NewEvent, signal: AbortSignal): Promise<void> };
  scope: ActivityScope;
  clock: Clock;
}

/**
 * Events are a courtesy: one that is refused must not end what it is about.
 *
 * @param identity what tells it from others of the same object: a repeat finds it by its name
 */
export async function writeEvent(
  { client, scope, clock }: EventTools,
  event: Pick<NewEvent, 'regarding' | 'type' | 'reason' | 'message'>,
  identity: readonly string[],
): Promise<void> {
  const { kind, name } = event.regarding;
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  const at = new Date(clock.now()).toISOString().replace('Z', '000Z');
  try {
    await client.createEvent(
      { ...event, name: `${name.slice(0, 200)}.${digest}`, message: cutBytes(event.message, noteLimit), at },
      scope.signal,
    );
  } catch (error) {
    if (
      !isFailure(error, 'KubernetesForbidden') &&
      !isFailure(error, 'ObjectRefused') &&
      !isFailure(error, 'ObjectNotFound')
    )
      throw error;
    scope.warn(`The event ${event.reason} on ${kind} ${name} was not written: ${error.message}`);
  }
}
