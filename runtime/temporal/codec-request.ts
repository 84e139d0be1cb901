import type { Payload } from '@temporalio/common';
import { z } from 'zod';
import { droverFailure } from '../failure.ts';

/**
 * Temporal's remote codec, as JSON of its protobufs: bytes are base64.
 *
 * @see https://docs.temporal.io/remote-data-encoding
 */

const bytes = z
  .string()
  .regex(/^[A-Za-z0-9+/_-]*={0,2}$/u, 'expected base64')
  .transform((text) => new Uint8Array(Buffer.from(text, 'base64')));

const requestSchema = z.object({
  payloads: z.array(z.object({ metadata: z.record(z.string(), bytes).nullish(), data: bytes.nullish() })).max(10_000),
});

/** @throws InvalidInput naming the field, never what stands in it */
export function readCodecRequest(body: string): Payload[] {
  const { data, error } = requestSchema.safeParse(parseJson(body));
  if (error === undefined)
    return data.payloads.map(({ metadata = null, data: content = null }) => ({ metadata, data: content }));
  const [issue] = error.issues;
  throw droverFailure(
    'InvalidInput',
    `The request of the codec: ${issue?.path.map(String).join('.').slice(0, 100) || 'the body'}: ${issue?.message ?? ''}`,
  );
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw droverFailure('InvalidInput', 'The request of the codec is no JSON');
  }
}

const base64 = (content: Uint8Array): string => Buffer.from(content).toString('base64');

export const writeCodecAnswer = (payloads: readonly Payload[]): string =>
  JSON.stringify({
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, content]) => [name, base64(content)])),
      ...(data !== null && data !== undefined && { data: base64(data) }),
    })),
  });
