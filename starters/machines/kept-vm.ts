import { readProviderId } from '../../contracts/machine-safety/provider-id.ts';
import type { SweepReport } from '../../contracts/machine-safety/sweep.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';

/**
 * The provider id of the VM that a user means: by its id at the provider, whole or its last part, or by its name. Ids
 * that are whole need not be among the orphans, as a VM may be kept before it is one. Pure.
 *
 * @throws CommandError: notFound, and usage where it names several
 */
export function findProviderId(text: string, report: Pick<SweepReport, 'candidates'> | null): string {
  if (readProviderId(text) !== null) return text;
  const matches = (report?.candidates ?? []).filter(
    ({ machineName, providerId }) =>
      machineName === text || providerId === text || readProviderId(providerId)?.id === text.toLowerCase(),
  );
  const [found, ...others] = matches;
  if (found === undefined)
    throw new CommandError(
      `"${text.slice(0, 80)}" is none of the orphans that the last sweep has found.`,
      exitCodes.notFound,
      '`drover sweep ls` lists them. Any other VM is kept by its whole id: vsphere://REGION/UUID or openstack:///REGION/ID.',
    );
  if (others.length === 0) return found.providerId;
  throw new CommandError(
    `"${text}" is the name of ${String(matches.length)} orphans: ${matches.map(({ providerId }) => providerId).join(', ')}.`,
    exitCodes.usage,
    'Give the id of the one that is meant.',
  );
}
