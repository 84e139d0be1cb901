import { droverFailure } from '../../../runtime/failure.ts';
import type { VAppPropertyInfo, VmConfigInfo, VmConfigSpec } from '../wire/vim/types.ts';

/** How the guest comes to its properties: by Tools. As an ISO they would need a drive. */
const transport = 'com.vmware.guestInfo';

/**
 * The vApp properties that have another value than they shall have; null: none has. The others stay as they are. Pure.
 *
 * @param wanted values by id; they may be secret, and so may those that are there
 * @param vApp null: the VM has no properties
 * @throws InvalidObject a property that the VM does not have, or that its image does not let users set
 */
export function vAppChange(
  wanted: Readonly<Record<string, string>>,
  vApp: VmConfigInfo | null,
  vmName: string,
): VmConfigSpec | null {
  const properties = vApp?.property ?? [];
  const missing = Object.keys(wanted).filter((wantedId) => !properties.some(({ id }) => id === wantedId));
  if (missing.length > 0) {
    const has = properties.length === 0 ? 'it has none' : `it has ${properties.map(({ id = '' }) => id).join(', ')}`;
    throw droverFailure(
      'InvalidObject',
      `${vmName} has no vApp property ${missing.join(', ')} of spec.bootstrap.vAppConfig: ${has}`,
    );
  }
  const changed = properties.filter(({ id = '', value = '' }) => Object.hasOwn(wanted, id) && wanted[id] !== value);
  const fixed = changed.filter(({ userConfigurable }) => userConfigurable !== true);
  if (fixed.length > 0)
    throw droverFailure(
      'InvalidObject',
      `The image of ${vmName} does not let users set the vApp property ${fixed.map(({ id = '' }) => id).join(', ')} of spec.bootstrap.vAppConfig`,
    );
  if (changed.length === 0) return null;
  // Whole: some servers take what is left out for its default.
  const property = changed.map((info: VAppPropertyInfo) => ({
    operation: 'edit',
    info: { ...info, value: wanted[info.id ?? ''] ?? '' },
  }));
  return { $type: 'VmConfigSpec', property, ovfEnvironmentTransport: [transport] };
}
