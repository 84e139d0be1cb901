/** What a VM and an Agent have in common: identifiers that are written in several ways. */

/**
 * A UUID, from any of the ways it is written in: with hyphens, bare, or as VMware writes it into a serial number:
 * `VMware-42 3e 1a … - … `. Null: it is none.
 */
export function uuidOf(text: string | null | undefined): string | null {
  const digits = (text ?? '')
    .replace(/^VMware-/iu, '')
    .replaceAll(/[\s-]/gu, '')
    .toLowerCase();
  if (!/^[0-9a-f]{32}$/u.test(digits) || /^0+$/u.test(digits)) return null;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/u, '$1-$2-$3-$4-$5');
}

/** With the bytes of its first three groups in the other order, as SMBIOS has them since 2.6 and its readers do not. */
const swapped = (uuid: string): string =>
  uuid
    .split('-')
    .map((group, index) => (index < 3 ? (group.match(/../gu) ?? []).toReversed().join('') : group))
    .join('-');

/** Whether two are one UUID, in whichever order of bytes. */
export const isSameUuid = (one: string, other: string): boolean => one === other || swapped(one) === other;

/** Lower case, with hyphens. Null: it is none, or that of no card. */
export function macOf(text: string | null | undefined): string | null {
  const digits = (text ?? '').replaceAll(/[\s:.-]/gu, '').toLowerCase();
  if (!/^[0-9a-f]{12}$/u.test(digits) || /^0+$/u.test(digits)) return null;
  return (digits.match(/../gu) ?? []).join('-');
}
