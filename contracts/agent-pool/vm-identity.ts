/** Flips bits of every group of a UUID but those that say of which kind it is. */
const mask = '5a5a5a5a-a5a5-05a5-05a5-5a5a5a5aa5a5';

/** Both are in the call that makes the VM, so that they are known before there is one. In lower case. */
export interface VmIdentity {
  /** Unique in the vCenter: the uid of the VsphereAgent. */
  instanceUuid: string;
  /** What the guest shows as its serial number, and so the Agent. Another one, as copies of a VM may keep it. */
  biosUuid: string;
}

/** Pure. Of two objects none is the same. @param uid of the VsphereAgent */
export function vmIdentityOf(uid: string): VmIdentity {
  const instanceUuid = uid.toLowerCase();
  const flip = (digit: string, index: number): string =>
    (Number.parseInt(digit, 16) ^ Number.parseInt(mask[index] ?? '0', 16)).toString(16);
  return { instanceUuid, biosUuid: instanceUuid.replaceAll(/[0-9a-f]/gu, flip) };
}
