import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';

/**
 * The value of the first of these payloads. Null where there is none, and for what cannot be read: such as what another
 * process has written with other keys, or a person by hand.
 */
export async function readPayload(client: Client, encoded: Payload[]): Promise<unknown> {
  const { payloadCodecs, payloadConverter } = client.options.loadedDataConverter;
  try {
    let payloads = encoded;
    for (const codec of payloadCodecs) payloads = await codec.decode(payloads);
    const [first] = payloads;
    return first === undefined ? null : payloadConverter.fromPayload(first);
  } catch {
    return null;
  }
}
