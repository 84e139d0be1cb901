import type { Allocation, WantedConfig } from '../../contracts/virtual-machine.ts';
import type { VmConfig } from './types.ts';

/** What of the wanted differs from what is; null: nothing does. Pure. */
export function planChange(wanted: WantedConfig, seen: VmConfig): WantedConfig | null {
  const changed = Object.entries(wanted).filter(([name, value]) => name !== 'extraConfig' && value !== undefined && !isSame(value, seen[name as Exclude<keyof WantedConfig, 'extraConfig'>]));
  // A key that is not there is as good as one without a value.
  const options = Object.entries(wanted.extraConfig ?? {}).filter(([key, value]) => (seen.extraConfig[key] ?? '') !== value);
  if (changed.length === 0 && options.length === 0) return null;
  return { ...Object.fromEntries(changed), ...(options.length === 0 ? {} : { extraConfig: Object.fromEntries(options) }) };
}

type Scalar = string | number | null;
type Group = Allocation | NonNullable<WantedConfig['managedBy']>;

function isSame(wanted: Scalar | Group, seen: Scalar | Group | null): boolean {
  if (typeof wanted !== 'object' || wanted === null) return wanted === seen;
  if (typeof seen !== 'object' || seen === null) return false;
  const known: Readonly<Record<string, Scalar>> = { ...seen };
  return Object.entries(wanted).every(([name, value]) => known[name] === value);
}
