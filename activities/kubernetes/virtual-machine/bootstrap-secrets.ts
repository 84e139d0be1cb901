/** Data of a Secret by key. */
export type SecretData = Readonly<Record<string, Buffer>>;

interface KeyOfSecret {
  name: string;
  key: string;
}

/** The Secrets of a bootstrap, as what is made of them asks for them. */
export interface Secrets {
  /** Empty where there is no such key, which is noted. */
  text(of: KeyOfSecret): string;
  /** The first of these keys that is there. */
  first(name: string, keys: readonly [string, ...string[]]): Buffer;
  /** Null: there is no such key, and none is needed. */
  find(of: KeyOfSecret): string | null;
  /** Every key of it. */
  all(name: string): Record<string, string>;
  /** What was asked for and is not there, as `secret/key`. */
  missing(): string[];
}

export function openSecrets(read: (name: string) => SecretData): Secrets {
  const missing = new Set<string>();
  const first: Secrets['first'] = (name, keys) => {
    const data = read(name);
    const key = keys.find((one) => Object.hasOwn(data, one));
    if (key === undefined) missing.add(`${name}/${keys[0]}`);
    return data[key ?? ''] ?? Buffer.alloc(0);
  };
  return {
    first,
    text: ({ name, key }) => first(name, [key]).toString('utf8'),
    find: ({ name, key }) => read(name)[key]?.toString('utf8') ?? null,
    all: (name) =>
      Object.fromEntries(
        Object.entries(read(name))
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, value]) => [key, value.toString('utf8')]),
      ),
    missing: () => [...missing].toSorted(),
  };
}

/** A value that stands in the spec, or in a Secret. Null: neither. */
export const valueOf = (
  given: { value?: string | undefined; from?: KeyOfSecret | undefined } | undefined,
  secrets: Secrets,
): string | null => (given?.from !== undefined ? secrets.text(given.from) : (given?.value ?? null));
