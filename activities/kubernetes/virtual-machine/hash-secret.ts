import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * A hash that stands in an annotation and in histories, of what may be one password: slow on purpose, and another one
 * for each salt. It is computed in a thread, so a simulation gives another.
 */
export type HashSecret = (text: string, salt: string) => Promise<string>;

const derive = promisify<string, string, number, { N: number; r: number; p: number }, Buffer>(scrypt);

/** Takes some milliseconds. */
export const hashSecret: HashSecret = async (text, salt) =>
  (await derive(text, salt, 20, { N: 4_096, r: 8, p: 1 })).toString('hex');
