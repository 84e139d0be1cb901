/**
 * XDR (RFC 4506), as far as libvirt uses it: big-endian, everything in multiples of four bytes, every length bounded.
 */

/** Bytes that are no message of the protocol. The reader knows from where they came. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/**
 * How a value is written and read. Reading throws {@link MalformedMessage}; writing a value beyond a bound
 * is a RangeError.
 */
export interface Codec<Value> {
  write(out: Buffer[], value: Value): void;
  read(from: Reader): Value;
}

export interface Reader {
  /** The next bytes, without copying. @throws MalformedMessage where there are fewer */
  take(bytes: number): Buffer;
}

/** The most of anything that may be repeated in a message, as remote_protocol.x bounds its lists. */
const longestList = 16_384;
/** REMOTE_STRING_MAX. */
const longestStringBytes = 4_194_304;
const longestOpaqueBytes = 65_536;

export function encode<Value>(codec: Codec<Value>, value: Value): Buffer {
  const out: Buffer[] = [];
  codec.write(out, value);
  return Buffer.concat(out);
}

/** Reads the whole of `bytes`. @throws MalformedMessage also where something is left */
export function decode<Value>(codec: Codec<Value>, bytes: Buffer): Value {
  let offset = 0;
  const value = codec.read({
    take: (count) => {
      if (offset + count > bytes.length)
        throw new MalformedMessage(`it ends after ${bytes.length} bytes, in the middle of a value`);
      offset += count;
      return bytes.subarray(offset - count, offset);
    },
  });
  if (offset !== bytes.length) throw new MalformedMessage(`it has ${bytes.length - offset} bytes more than its values`);
  return value;
}

const padding = (bytes: number): number => -bytes & 3;

export const uint: Codec<number> = {
  write: (out, value) => {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(value);
    out.push(bytes);
  },
  read: (from) => from.take(4).readUInt32BE(),
};

export const int: Codec<number> = {
  write: (out, value) => {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeInt32BE(value);
    out.push(bytes);
  },
  read: (from) => from.take(4).readInt32BE(),
};

export const unsignedHyper: Codec<bigint> = {
  write: (out, value) => {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigUInt64BE(value);
    out.push(bytes);
  },
  read: (from) => from.take(8).readBigUInt64BE(),
};

const opaqueUpTo = (mostBytes: number): Codec<Buffer> => ({
  write: (out, value) => {
    if (value.length > mostBytes) throw new RangeError(`${value.length} bytes do not fit into ${mostBytes}`);
    uint.write(out, value.length);
    out.push(value, Buffer.alloc(padding(value.length)));
  },
  read: (from) => {
    const length = uint.read(from);
    if (length > mostBytes)
      throw new MalformedMessage(`it says that ${length} bytes follow, where at most ${mostBytes} may`);
    const value = from.take(length);
    from.take(padding(length));
    return value;
  },
});

export const opaque = opaqueUpTo(longestOpaqueBytes);

const stringBytes = opaqueUpTo(longestStringBytes);

export const string: Codec<string> = {
  write: (out, value) => stringBytes.write(out, Buffer.from(value, 'utf8')),
  read: (from) => stringBytes.read(from).toString('utf8'),
};

export const list = <Item>(item: Codec<Item>, mostItems = longestList): Codec<readonly Item[]> => ({
  write: (out, value) => {
    if (value.length > mostItems) throw new RangeError(`${value.length} items do not fit into ${mostItems}`);
    uint.write(out, value.length);
    for (const one of value) item.write(out, one);
  },
  read: (from) => {
    const length = uint.read(from);
    if (length > mostItems)
      throw new MalformedMessage(`it says that ${length} items follow, where at most ${mostItems} may`);
    return Array.from({ length }, () => item.read(from));
  },
});

/** A pointer: a value or none. */
export const optional = <Value>(codec: Codec<Value>): Codec<Value | null> => ({
  write: (out, value) => {
    uint.write(out, value === null ? 0 : 1);
    if (value !== null) codec.write(out, value);
  },
  read: (from) => {
    const there = uint.read(from);
    if (there > 1) throw new MalformedMessage(`it has ${there} where only 0 and 1 may be`);
    return there === 0 ? null : codec.read(from);
  },
});

/** Fields one after the other, in the order of the object's keys. */
export const struct = <Fields extends object>(fields: {
  readonly [Name in keyof Fields]: Codec<Fields[Name]>;
}): Codec<Fields> => ({
  write: (out, value) => {
    for (const name of Object.keys(fields) as (keyof Fields)[]) fields[name].write(out, value[name]);
  },
  read: (from) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, codec]) => [name, (codec as Codec<unknown>).read(from)]),
    ) as Fields,
});

/** 16 bytes without a length; as text, `8-4-4-4-12` hexadecimal digits. */
export const uuid: Codec<string> = {
  write: (out, value) => {
    const bytes = Buffer.from(value.replaceAll('-', ''), 'hex');
    if (bytes.length !== 16) throw new RangeError(`${value} is no UUID`);
    out.push(bytes);
  },
  read: (from) =>
    from
      .take(16)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5'),
};

/** `char data<>`, in which each character takes four bytes. */
export const characters: Codec<Buffer> = {
  write: (out, value) => list(uint, longestOpaqueBytes).write(out, [...value]),
  read: (from) =>
    Buffer.from(
      list(int, longestOpaqueBytes)
        .read(from)
        .map((one) => one & 0xff),
    ),
};
