import { createHash } from 'node:crypto';

const dns = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex');

/** Of a name, always the same: as the lab's hypervisors have them (version 5, namespace DNS). */
export function uuidOf(name: string): string {
  const digits = createHash('sha1').update(dns).update(name).digest('hex');
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `5${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join('-');
}
