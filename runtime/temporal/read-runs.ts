import { type Client, WorkflowClient } from '@temporalio/client';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { failureCode } from '../failure.ts';

/**
 * Reads what Temporal knows of runs, such as whether they are open and how they ended. No payload is needed for that:
 * where one of a memo cannot be decoded, as its key is lost, all is read once more, and such a value is undefined.
 *
 * @param onLost is given what says which key it is
 */
export async function readRuns<Result>(
  client: Client,
  read: (workflow: WorkflowClient) => Promise<Result>,
  onLost: (error: unknown) => void = () => undefined,
): Promise<Result> {
  try {
    return await read(client.workflow);
  } catch (error) {
    if (!isPayloadLost(error)) throw error;
    onLost(error);
    return await read(withoutLostValues(client));
  }
}

/** A payload cannot be decoded by this process. */
export function isPayloadLost(error: unknown): boolean {
  const code = failureCode(error);
  return code === 'PayloadKeyMissing' || code === 'PayloadUnreadable';
}

function withoutLostValues({ connection, options: { namespace, loadedDataConverter } }: Client): WorkflowClient {
  const payloadCodecs = loadedDataConverter.payloadCodecs.map(withoutFailures);
  return new WorkflowClient({ connection, namespace, dataConverter: { ...loadedDataConverter, payloadCodecs } });
}

function withoutFailures(codec: PayloadCodec): PayloadCodec {
  const decodeOne = (payload: Payload): Promise<Payload[]> =>
    codec.decode([payload]).catch(() => [defaultPayloadConverter.toPayload(undefined)]);
  return {
    encode: (payloads) => codec.encode(payloads),
    decode: async (payloads) => (await Promise.all(payloads.map(decodeOne))).flat(),
  };
}
