/** What a user has approved of, as the annotation of a pool lists it. All of it is pure. */

/**
 * Of one that is held: names come back, with another AgentMachine of the name or after a restore.
 *
 * @param held a VsphereAgent; of a VM without one: the name of the VM, and the uid in its mark
 */
export const approvalOf = ({ name, uid }: { name: string; uid: string }): string => `${name}/${uid.toLowerCase()}`;

/** The one that the message of a VM without a VsphereAgent ends with; null: with none. */
export function approvalIn(message: string, name: string): string | null {
  const last = message.split(' ').at(-1) ?? '';
  return last.startsWith(`${name}/`) ? last : null;
}
