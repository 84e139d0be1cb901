import { nearest } from '../../runtime/config/suggestion.ts';
import { CommandError } from '../command/error.ts';
import { exitCodes } from '../command/exit-codes.ts';

/**
 * What a person is told who names a host that is none, with the one that they may have meant.
 *
 * @param hypervisors names of all Hypervisors
 * @param consequence a sentence: nothing was started, nothing was changed
 */
export function unknownHost(host: string, hypervisors: readonly string[], consequence: string): CommandError {
  const longer = hypervisors.filter((name) => name.startsWith(`${host}.`));
  const candidate = longer.length === 1 ? (longer[0] ?? null) : nearest(host, hypervisors);
  const advice = `${candidate === null ? '' : `Did you mean ${candidate}? `}\`drover hosts\` lists those there are.`;
  return new CommandError(`There is no Hypervisor ${host}. ${consequence}`, exitCodes.notFound, advice);
}
