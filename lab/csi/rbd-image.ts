import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import type { CsiPool } from './pool.ts';

type Rbd = Omit<CsiPool, 'fsid'>;

const TIMEOUT_MS = 60_000;
/**
 * https://docs.ceph.com/en/latest/dev/rbd-diff/: only what is not zero is in it, so that a large image costs nothing.
 */
const HEADER = 'rbd diff v1\n';

/** Runs `rbd` as the driver does; resolves to what it printed. @throws with what it complained of */
export async function rbd(rbd: Rbd, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const child = spawn('rbd', ['--id', rbd.client.name, '--keyring', rbd.client.keyringFile, ...args], {
    env: { ...process.env, CEPH_CONF: rbd.confFile },
    stdio: 'pipe',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject).on('close', ended.resolve);
  child.stdin.on('error', () => undefined).end(input);
  const [code, output, complaint] = await Promise.all([ended.promise, buffer(child.stdout), buffer(child.stderr)]);
  if (code !== 0) throw new Error(`rbd ${args.join(' ')}: ${complaint.toString().trim()}`);
  return output;
}

/** Writes at the image's start. */
export async function writeImage(of: Rbd, image: string, bytes: Buffer): Promise<void> {
  const record = Buffer.alloc(17);
  record.write('w');
  record.writeBigUInt64LE(BigInt(bytes.length), 9);
  await rbd(
    of,
    ['import-diff', '-', `${of.pool}/${image}`],
    Buffer.concat([Buffer.from(HEADER), record, bytes, Buffer.from('e')]),
  );
}

/** Reads what is in the image, up to the last place that was written. */
export async function readImage(of: Rbd, image: string): Promise<Buffer> {
  return bytesOfDiff(await rbd(of, ['export-diff', `${of.pool}/${image}`, '-']));
}

/** @throws RangeError when the diff ends too early */
export function bytesOfDiff(diff: Buffer): Buffer {
  if (diff.toString('latin1', 0, HEADER.length) !== HEADER) throw new Error('that is no diff of rbd');
  const parts: { offset: number; bytes: Buffer }[] = [];
  let at = HEADER.length;
  const number = (): number => Number(diff.readBigUInt64LE((at += 8) - 8));
  for (;;) {
    const tag = String.fromCharCode(diff.readUInt8(at++));
    if (tag === 'e') break;
    if (tag === 's') number();
    else if (tag === 'f' || tag === 't') at += 4 + diff.readUInt32LE(at);
    else if (tag === 'z') void [number(), number()];
    else if (tag === 'w') {
      const offset = number();
      const length = number();
      parts.push({ offset, bytes: diff.subarray(at, (at += length)) });
    } else throw new Error(`a diff of rbd has no record ${JSON.stringify(tag)}`);
  }
  const whole = Buffer.alloc(Math.max(0, ...parts.map(({ offset, bytes }) => offset + bytes.length)));
  for (const { offset, bytes } of parts) bytes.copy(whole, offset);
  return whole;
}
