import type { guestFamilies } from '../../../contracts/crds/policy-evaluation.ts';

type GuestFamily = (typeof guestFamilies)[number];

/** By the beginnings that vSphere's names of guests have. */
const linuxGuests =
  /linux|^(asianux|centos|coreos64|debian|fedora|mandrake|mandriva|opensuse|oracle|redhat|rhel|sles|suse|ubuntu|vmwarePhoton)/iu;
const others = { Darwin: /^darwin/iu, Netware: /^netware/iu, Solaris: /^solaris/iu, Windows: /^win/iu } as const;

/** Pure. */
export const isLinux = (guestId: string): boolean => linuxGuests.test(guestId);

/** Pure. */
export function guestFamilyOf(guestId: string): GuestFamily {
  if (isLinux(guestId)) return 'Linux';
  const named = Object.entries(others).find(([, pattern]) => pattern.test(guestId));
  return (named?.[0] as GuestFamily | undefined) ?? 'Other';
}
