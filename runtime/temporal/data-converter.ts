import { fileURLToPath } from 'node:url';
import {
  defaultFailureConverter,
  defaultPayloadConverter,
  type DataConverter,
  type LoadedDataConverter,
} from '@temporalio/common';
import { failureConverter } from './failure-converter.ts';
import { createPayloadCodec } from './payload-codec.ts';
import { noPayloadKeys, readPayloadKeys } from './payload-keys.ts';

/**
 * How payloads are written and read, for each who takes it: the same codec, and with keys the same
 * treatment of failures.
 */
export interface DataConverters {
  client: LoadedDataConverter;
  worker: DataConverter;
}

/**
 * @param keyFile the keyring; null: nothing is encrypted, and what is encrypted fails with the name of the key
 * that is missing
 * @throws InvalidConfiguration
 */
export function createDataConverters(keyFile: string | null): DataConverters {
  const payloadCodecs = [createPayloadCodec(keyFile === null ? noPayloadKeys : readPayloadKeys(keyFile))];
  const isOn = keyFile !== null;
  return {
    client: {
      payloadConverter: defaultPayloadConverter,
      failureConverter: isOn ? failureConverter : defaultFailureConverter,
      payloadCodecs,
    },
    worker: {
      payloadCodecs,
      ...(isOn && { failureConverterPath: fileURLToPath(new URL('failure-converter.ts', import.meta.url)) }),
    },
  };
}
