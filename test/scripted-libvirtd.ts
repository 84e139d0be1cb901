import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import {
  eventMessages,
  procedures,
  type ProcedureName,
  type ProcedureResult,
  remoteError,
} from '../activities/libvirt/wire/procedures.ts';
import { decode, encode, int, struct, uint, type Codec } from '../activities/libvirt/wire/xdr.ts';

/** A call as it arrived. */
export interface ReceivedCall {
  name: ProcedureName;
  serial: number;
  /** Of the domain that the call is about; null where it is about none. */
  uuid: string | null;
  /** Of a call that has some; null for others. */
  flags: number | null;
}

/** What is answered: a result, an error of libvirt's, bytes as they are, or nothing. */
export type LibvirtReply =
  | { result: object }
  | { error: number; message?: string }
  | { raw: Buffer }
  | 'cut'
  | 'silent';

export interface ScriptedLibvirtd {
  port: number;
  received: ReceivedCall[];
  /** Pongs that came. */
  pongs: number;
  /** Writes to every connection. */
  say(bytes: Buffer): void;
  close(): Promise<void>;
}

const header = struct({ program: uint, version: uint, procedure: int, type: int, serial: uint, status: int });
const remoteProgram = 0x20008086;
const keepAliveProgram = 0x6b656570;

/** A message as libvirt frames it. */
export function frame(head: Partial<ReturnType<typeof header.read>>, payload: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = encode(header, {
    program: remoteProgram,
    version: 1,
    procedure: 0,
    type: 1,
    serial: 0,
    status: 0,
    ...head,
  });
  return Buffer.concat([encode(uint, 4 + bytes.length + payload.length), bytes, payload]);
}

export const ping = frame({ program: keepAliveProgram, procedure: 1, type: 2 });

export function reply<Name extends ProcedureName>(name: Name, serial: number, result: ProcedureResult<Name>): Buffer {
  return frame(
    { procedure: procedures[name].number, serial },
    encode(procedures[name].result as Codec<ProcedureResult<Name>>, result),
  );
}

export function refusal(name: ProcedureName, serial: number, code: number, message: string | null): Buffer {
  const error = {
    code,
    domain: 7,
    message,
    level: 2,
    dom: null,
    str1: null,
    str2: null,
    str3: null,
    int1: 0,
    int2: 0,
    net: null,
  };
  return frame({ procedure: procedures[name].number, serial, status: 1 }, encode(remoteError, error));
}

export const lifecycleEvent = (domain: { name: string; uuid: string }, event: number, detail: number): Buffer =>
  frame(
    { procedure: eventMessages.lifecycle.number, type: 2 },
    encode(eventMessages.lifecycle.message, { callbackId: 0, domain: { ...domain, id: 1 }, event, detail }),
  );

/** What opening a connection needs, and the little that no test cares about. */
const usual: Partial<Record<ProcedureName, object>> = {
  authList: { types: [0] },
  connectSupportsFeature: { supported: 1 },
  connectOpen: {},
  connectClose: {},
  connectGetUri: { uri: 'qemu:///system' },
  connectDomainEventCallbackRegisterAny: { callbackId: 0 },
};

/** A server on loopback with scripted answers: only for answers that a real daemon cannot be brought to give. */
export async function startScriptedLibvirtd(
  script: (call: ReceivedCall) => LibvirtReply | undefined,
): Promise<ScriptedLibvirtd> {
  const sockets = new Set<Socket>();
  const scripted: ScriptedLibvirtd = {
    port: 0,
    received: [],
    pongs: 0,
    say: (bytes) => {
      for (const socket of sockets) socket.write(bytes);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    let held: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk]);
      while (held.length >= 4 && held.length >= held.readUInt32BE()) {
        const message = held.subarray(4, held.readUInt32BE());
        held = held.subarray(held.readUInt32BE());
        take(socket, message);
      }
    });
  });

  function take(socket: Socket, message: Buffer): void {
    const { program, procedure, serial } = headOf(message);
    if (program === keepAliveProgram) {
      if (procedure === 2) scripted.pongs += 1;
      return;
    }
    const [name] = Object.entries(procedures).find(([, { number }]) => number === procedure) ?? [];
    const call = receivedCall(name as ProcedureName, serial, message.subarray(24));
    scripted.received.push(call);
    const ordinary = usual[call.name];
    const answer = script(call) ?? (ordinary === undefined ? { error: 3 } : { result: ordinary });
    if (answer === 'cut') socket.destroy();
    else if (answer === 'silent') return;
    else if ('raw' in answer) socket.write(answer.raw);
    else if ('error' in answer) socket.write(refusal(call.name, serial, answer.error, answer.message ?? null));
    else socket.write(reply(call.name, serial, answer.result as never));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scripted.port = (server.address() as AddressInfo).port;
  return scripted;
}

function headOf(message: Buffer): ReturnType<typeof header.read> {
  let offset = 0;
  return header.read({ take: (bytes) => message.subarray(offset, (offset += bytes)) });
}

function receivedCall(name: ProcedureName, serial: number, payload: Buffer): ReceivedCall {
  const args = decode(procedures[name].args as Codec<{ domain?: { uuid: string } | null; flags?: number }>, payload);
  return { name, serial, uuid: args.domain?.uuid ?? null, flags: args.flags ?? null };
}
