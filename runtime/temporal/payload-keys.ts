import { statSync } from 'node:fs';
import { z } from 'zod';
import { droverFailure } from '../failure.ts';
import { registerSecret } from '../redaction.ts';
import { checkSettings, readYaml } from '../config/settings-file.ts';

/** AES-256 keys by id, and the id of the one that encrypts. The others only decrypt what was written before. */
export interface PayloadKeys {
  /** Null: nothing is encrypted. */
  current: string | null;
  /** 32 bytes each. */
  keys: ReadonlyMap<string, Buffer>;
}

/** Encrypts nothing, and can say of what is encrypted which key it lacks. */
export const noPayloadKeys: PayloadKeys = { current: null, keys: new Map() };

const keyBytes = 32;

/** Ids stand in clear beside each payload. */
const keyId = z
  .string()
  .regex(/^[A-Za-z0-9][-._A-Za-z0-9]{0,62}$/u, 'expected a key id of at most 63 letters, digits, -, . and _');

const key = z
  .string('expected text')
  .transform((text) => Buffer.from(text, 'base64'))
  .refine(
    (bytes) => bytes.length === keyBytes,
    `expected the base64 of ${keyBytes} bytes, as \`openssl rand -base64 32\` makes it`,
  );

const fileSchema = z
  .strictObject({ current: keyId, keys: z.record(keyId, key) })
  .refine(({ current, keys }) => Object.hasOwn(keys, current), {
    path: ['current'],
    error: 'expected the id of one of the keys',
  });

/** Reading by others, and writing by any user but the owner. */
const forbiddenMode = 0o027;

/**
 * Reads the keyring: YAML with `current` and `keys`, readable by its owner and, for a volume of a pod, its group.
 *
 * @throws InvalidConfiguration naming the file and the field, never what stands in it
 */
export function readPayloadKeys(file: string): PayloadKeys {
  refuseOpenFile(file, 'payload keys');
  const { current, keys } = checkSettings(fileSchema, readYaml(file), file);
  for (const bytes of Object.values(keys))
    for (const encoding of ['base64', 'hex', 'base64url'] as const) registerSecret(bytes.toString(encoding));
  return { current, keys: new Map(Object.entries(keys)) };
}

/** @throws InvalidConfiguration where a file of secrets is missing, or is open to others */
export function refuseOpenFile(file: string, what: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode === undefined)
    throw droverFailure('InvalidConfiguration', `The file of the ${what} ${file} does not exist.`);
  if ((mode & forbiddenMode) === 0) return;
  throw droverFailure(
    'InvalidConfiguration',
    `The file of the ${what} ${file} has mode ${(mode & 0o777).toString(8).padStart(4, '0')}, so that others can read or change it: \`chmod 600\` it (in a pod: defaultMode 0440).`,
  );
}
