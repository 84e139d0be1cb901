import { procedures, type ProcedureArgs, type ProcedureName } from './procedures.ts';
import { decode, encode, MalformedMessage, struct, uint, int, type Codec } from './xdr.ts';

/**
 * Messages of virnetprotocol.x: `u32 length` (itself included), a header of six words, the payload.
 */

const remoteProgram = 0x20008086;
const keepAliveProgram = 0x6b656570;
const programVersion = 1;
const headerBytes = 24;

/** VIR_NET_MESSAGE_LEN_MAX + VIR_NET_MESSAGE_MAX: no daemon sends, and none takes, more. */
const mostBytes = 33_554_432 + 4;
const leastBytes = 4 + headerBytes;

const types = { call: 0, reply: 1, event: 2 } as const;
const statuses = { ok: 0, error: 1 } as const;
const keepAlive = { ping: 1, pong: 2 } as const;

const header = struct({ program: uint, version: uint, procedure: int, type: int, serial: uint, status: int });
type Header = ReturnType<typeof header.read>;

/** What arrived. `other`: something that this client never asks for. */
export type Message =
  | { is: 'reply'; procedure: number; serial: number; isError: boolean; payload: Buffer }
  | { is: 'event'; procedure: number; payload: Buffer }
  | { is: 'ping' }
  | { is: 'other' };

export function encodeCall<Name extends ProcedureName>(name: Name, args: ProcedureArgs<Name>, serial: number): Buffer {
  const { number, args: codec } = procedures[name];
  return framed(
    {
      program: remoteProgram,
      version: programVersion,
      procedure: number,
      type: types.call,
      serial,
      status: statuses.ok,
    },
    encode(codec as Codec<ProcedureArgs<Name>>, args),
  );
}

export const encodePing = (): Buffer => keepAliveMessage(keepAlive.ping);
export const encodePong = (): Buffer => keepAliveMessage(keepAlive.pong);

const keepAliveMessage = (procedure: number): Buffer =>
  framed(
    {
      program: keepAliveProgram,
      version: programVersion,
      procedure,
      type: types.event,
      serial: 0,
      status: statuses.ok,
    },
    Buffer.alloc(0),
  );

function framed(head: Header, payload: Buffer): Buffer {
  const length = leastBytes + payload.length;
  if (length > mostBytes) throw new RangeError(`a message of ${length} bytes is larger than libvirt takes`);
  return Buffer.concat([encode(uint, length), encode(header, head), payload]);
}

/** @param frame without its length @throws MalformedMessage */
export function decodeMessage(frame: Buffer): Message {
  const { program, procedure, type, serial, status } = decode(header, frame.subarray(0, headerBytes));
  const payload = frame.subarray(headerBytes);
  if (program === keepAliveProgram) return procedure === keepAlive.ping ? { is: 'ping' } : { is: 'other' };
  if (program !== remoteProgram)
    throw new MalformedMessage(`its program is 0x${program.toString(16)}, which is not libvirt’s`);
  if (type === types.event) return { is: 'event', procedure, payload };
  if (type !== types.reply) throw new MalformedMessage(`its type is ${type}, which no answer has`);
  if (status !== statuses.ok && status !== statuses.error)
    throw new MalformedMessage(`its status is ${status}, which no answer has`);
  return { is: 'reply', procedure, serial, isError: status === statuses.error, payload };
}

/**
 * Cuts a stream into frames, without their lengths. Keeps what is not complete yet, at most one frame.
 *
 * @throws MalformedMessage as soon as a length is none: what follows cannot be read either
 */
export function createFrameReader(): (chunk: Buffer) => Buffer[] {
  let chunks: Buffer[] = [];
  let heldBytes = 0;
  let wantedBytes = 4;
  return (chunk) => {
    chunks.push(chunk);
    heldBytes += chunk.length;
    const frames: Buffer[] = [];
    if (heldBytes < wantedBytes) return frames;
    let held = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    wantedBytes = 4;
    while (held.length >= 4) {
      const length = lengthOf(held);
      if (held.length < length) {
        wantedBytes = length;
        break;
      }
      frames.push(held.subarray(4, length));
      held = held.subarray(length);
    }
    chunks = held.length === 0 ? [] : [held];
    heldBytes = held.length;
    return frames;
  };
}

function lengthOf(bytes: Buffer): number {
  const length = bytes.readUInt32BE();
  if (length < leastBytes || length > mostBytes)
    throw new MalformedMessage(`its length is ${length}, which no message has`);
  return length;
}
