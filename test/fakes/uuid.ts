/** A random UUID of version 4. */
export function uuidFrom(random: () => number): string {
  const digit = (_: unknown, index: number): number =>
    index === 12 ? 4 : index === 16 ? 8 + Math.floor(random() * 4) : Math.floor(random() * 16);
  const digits = Array.from({ length: 32 }, digit)
    .map((one) => one.toString(16))
    .join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/u, '$1-$2-$3-$4-');
}
