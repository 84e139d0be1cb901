import type { LoadedConfig } from '../runtime/config.ts';
import type { HypervisorObject } from './hypervisor-facts.ts';

/**
 * What keeps drover from acting on a Hypervisor, as a sentence, as far as a command can know: by its own settings, where there are any,
 * and by the object. Without settings the command's default says nothing about the worker's.
 */
export function whyNothingHappens({ config, file }: LoadedConfig, hypervisor: Pick<HypervisorObject, 'name' | 'observed'> | null, env: NodeJS.ProcessEnv = process.env): string | null {
  const isSaid = file !== null || (env['DROVER_MODE_HYPERVISOR'] ?? '') !== '';
  const where = file ?? 'DROVER_MODE_HYPERVISOR';
  const mode = isSaid ? config.modes.Hypervisor : 'act';
  if (mode === 'off') return `Hypervisors are switched off (modes.Hypervisor in ${where}): a drover with these settings does nothing about it.`;
  if (mode === 'observe') return `drover only observes Hypervisors (modes.Hypervisor in ${where}): the condition Observed says what it would do.`;
  return hypervisor?.observed === true ? `${hypervisor.name} asks drover to look only (annotation drover.dev/mode): the condition Observed says what it would do.` : null;
}
