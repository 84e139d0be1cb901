import { z } from 'zod';
import { droverFailure } from '../runtime/failure.ts';
import { checkAnswer, type KubernetesFaultDetails } from '../runtime/kubernetes/kubernetes-faults.ts';
import { type KubeObject, kubeObjectSchema, kubeStatusSchema } from './kube-object.ts';
import { createLineDecoder } from './line-decoder.ts';

export type WatchEvent =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: KubeObject }
  /** Nothing happened up to this resourceVersion. */
  | { type: 'BOOKMARK'; resourceVersion: string };

const eventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: kubeObjectSchema }),
  z.object({
    type: z.literal('BOOKMARK'),
    object: z.looseObject({ metadata: z.looseObject({ resourceVersion: z.string().min(1) }) }),
  }),
  z.object({ type: z.literal('ERROR'), object: kubeStatusSchema }),
]);

/**
 * One line of a watch.
 *
 * @throws KubernetesUnavailable for an ERROR event, its code as the HTTP status in the details; AnswerMalformed where
 * the line is no event
 */
export function parseWatchEvent(line: string): WatchEvent {
  const event = checkAnswer(eventSchema, parseJson(line), 'a line of the watch');
  if (event.type === 'BOOKMARK') return { type: event.type, resourceVersion: event.object.metadata.resourceVersion };
  if (event.type !== 'ERROR') return event;
  const { code = 500, reason = '', message = 'no message' } = event.object;
  throw watchFailure(`the watch ended with ${code}: ${message}`, { httpStatus: code, reason });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw droverFailure('AnswerMalformed', 'a line of the watch is no JSON');
  }
}

const watchFailure = (detail: string, details: KubernetesFaultDetails, cause?: unknown): Error =>
  droverFailure('KubernetesUnavailable', detail, { details, ...(cause !== undefined && { cause }) });

/** The failure of a connection that broke: the watch can go on from where it was. */
export const connectionLost = (detail: string, cause?: unknown): Error =>
  watchFailure(detail, { httpStatus: 0, reason: '' }, cause);

/**
 * The events of a watch's body, until the server ends it.
 *
 * @param onBytes called for every chunk, so that a watchdog sees that the connection lives
 * @throws what {@link parseWatchEvent} throws, and {@link connectionLost} where the stream broke
 */
export async function* readWatchEvents(
  chunks: AsyncIterable<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<WatchEvent> {
  const decoder = createLineDecoder();
  for await (const chunk of orLost(chunks)) {
    onBytes();
    for (const line of decoder.push(chunk)) yield parseWatchEvent(line);
  }
  if (decoder.isPartial()) throw connectionLost('the watch was cut in the middle of an event');
}

/** Distinguishes a broken connection from a broken event. */
async function* orLost(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await iterator.next().catch((error: unknown) => {
        throw connectionLost(`the watch broke: ${error instanceof Error ? error.message : String(error)}`, error);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Closes the connection when the reader stops reading.
    await iterator.return?.();
  }
}
