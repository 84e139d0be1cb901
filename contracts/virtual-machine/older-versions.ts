/**
 * Older versions of the API that drover's CRDs serve. What they have is in today's version at the same place, but for
 * one field of a VirtualMachine: docs/adr/0021-served-versions.md.
 */
export const olderVersions = ['v1alpha5', 'v1alpha4', 'v1alpha3'] as const;

/** Drives of a spec. Before v1alpha5 they had a place of their own. */
export const drivesOf = <Drive>(
  spec: { cdrom?: Drive[] | undefined; hardware?: { cdrom?: Drive[] | undefined } | undefined } | undefined,
): readonly Drive[] => spec?.hardware?.cdrom ?? spec?.cdrom ?? [];
