import type { LoadedConfig } from '../../runtime/config/config.ts';

/** Kinds whose lifecycle drover drives, and the variable that says how. */
const variables = { Hypervisor: 'DROVER_MODE_HYPERVISOR', VirtualMachine: 'DROVER_MODE_VIRTUAL_MACHINE' } as const;

/**
 * What keeps drover from acting on an object, as a sentence, as far as a command can know: by its own settings, where there are any, and
 * by the object. Without settings the command's default says nothing about the worker's.
 */
export function whyNothingHappens(
  kind: keyof typeof variables,
  { config, file }: LoadedConfig,
  object: { name: string; observed: boolean } | null,
  env: NodeJS.ProcessEnv,
): string | null {
  const variable = variables[kind];
  const isSaid = file !== null || (env[variable] ?? '') !== '';
  const where = file ?? variable;
  const mode = isSaid ? config.modes[kind] : 'act';
  if (mode === 'off')
    return `${kind}s are switched off (modes.${kind} in ${where}): a drover with these settings does nothing about it.`;
  if (mode === 'observe')
    return `drover only observes ${kind}s (modes.${kind} in ${where}): the condition Observed says what it would do.`;
  return object?.observed === true
    ? `${object.name} asks drover to observe only (annotation drover.dev/mode): the condition Observed says what it would do.`
    : null;
}
