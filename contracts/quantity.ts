const factors: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
};
const powers = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** A `resource.Quantity` as a number of its unit: bytes, cores. Null: it is none. Exact up to 2^53. */
export function quantityOf(quantity: string | number): number | null {
  if (typeof quantity === 'number') return quantity;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE])|([KMGTPE]i)|[eE]([+-]?\d+))?$/u.exec(quantity.trim());
  if (match === null) return null;
  const [, digits, decimal, binary, exponent] = match;
  const factor =
    binary !== undefined
      ? 1024 ** (powers.indexOf(binary) + 1)
      : exponent !== undefined
        ? 10 ** Number(exponent)
        : (factors[decimal ?? ''] ?? 1);
  return Number(digits) * factor;
}

const mib = 1024 ** 2;

/** Rounded up: a VM does not get less than was asked for. */
export const mebibytesOf = (quantity: string | number): number | null => {
  const bytes = quantityOf(quantity);
  return bytes === null ? null : Math.ceil(bytes / mib);
};

/** Bytes as a `resource.Quantity` in the way Kubernetes itself writes it: `10Gi`. */
export function quantityText(bytes: number): string {
  const exponent = bytes > 0 ? powers.findLastIndex((_, index) => bytes % 1024 ** (index + 1) === 0) : -1;
  return exponent === -1 ? String(bytes) : `${bytes / 1024 ** (exponent + 1)}${powers[exponent] ?? ''}`;
}
