import type { Client } from '@temporalio/client';
import { defaultPayloadConverter, METADATA_ENCODING_KEY, type Payload } from '@temporalio/common';
import { stoppedClock } from '../test/fixtures/stopped-clock.ts';
import { findLastRun } from './find-last-run.ts';

const text = new TextEncoder();
const payload = (value: object | string | number | null): Payload => defaultPayloadConverter.toPayload(value);
const told = (uid: string, generation: number): Payload => payload({ uid, generation });
/** As a key writes it that this process does not have. */
const locked: Payload = {
  metadata: { [METADATA_ENCODING_KEY]: text.encode('binary/encrypted') },
  data: text.encode('?'),
};
/** As a person types it who has quoted it wrong. */
const broken: Payload = { metadata: { [METADATA_ENCODING_KEY]: text.encode('json/plain') }, data: text.encode('{uid') };

/** A run that a user has cancelled. @param signals the newest first, as its history is read */
const cancelledRun = (signals: readonly Payload[]): Client =>
  ({
    options: {
      namespace: 'default',
      loadedDataConverter: {
        payloadCodecs: [
          {
            decode: async (payloads: Payload[]) => {
              if (payloads.includes(locked)) throw new Error('the key k1 is missing');
              return payloads;
            },
          },
        ],
        payloadConverter: defaultPayloadConverter,
      },
    },
    withDeadline: (_deadline: number, calls: () => Promise<unknown>) => calls(),
    workflow: {
      getHandle: () => ({
        describe: async () => ({
          runId: 'run-1',
          startTime: new Date(0),
          closeTime: new Date(1_000),
          status: { name: 'CANCELLED' },
        }),
      }),
    },
    workflowService: {
      getWorkflowExecutionHistoryReverse: async () => ({
        history: {
          events: [
            { workflowExecutionCancelRequestedEventAttributes: { identity: 'ada', cause: 'too early' } },
            ...signals.map((given) => ({
              workflowExecutionSignaledEventAttributes: { signalName: 'objectChanged', input: { payloads: [given] } },
            })),
          ],
        },
      }),
    },
  }) as unknown as Client;

test.each<[why: string, signals: Payload[], toldGeneration: number | null]>([
  ['of the object, the newest counts', [told('u', 3), told('u', 2)], 3],
  ['of another object', [told('other', 3), told('u', 2)], 2],
  ['none', [], null],
  ['encrypted with a key that is missing', [locked, told('u', 2)], 2],
  ['no JSON', [broken, told('u', 2)], 2],
  ['none that can be read', [locked, broken], null],
  ['no object', [payload(null), payload('u'), payload(7)], null],
])('signals of a run that a user has cancelled: %s', async (_why, signals, toldGeneration) => {
  const found = await findLastRun(cancelledRun(signals), 'eviction/node-1', 'u', {
    timeoutMs: 1_000,
    clock: stoppedClock(),
  });
  expect(found).toEqual({
    lastRun: { status: 'CANCELLED', toldGeneration },
    stop: { runId: 'run-1', how: 'cancelled', by: 'ada', reason: 'too early', at: '1970-01-01T00:00:01.000Z' },
  });
});
