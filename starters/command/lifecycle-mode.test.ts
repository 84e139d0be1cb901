import { parseConfig } from '../../runtime/config/config.ts';
import { whyNothingHappens } from './lifecycle-mode.ts';

test.each<
  [
    why: string,
    kind: 'Hypervisor' | 'VirtualMachine',
    mode: string,
    file: string | null,
    env: NodeJS.ProcessEnv,
    observed: boolean,
    words: RegExp | null,
  ]
>([
  ['no settings: not known', 'Hypervisor', 'off', null, {}, false, null],
  [
    'off by the file',
    'Hypervisor',
    'off',
    'drover.yaml',
    {},
    false,
    /^Hypervisors are switched off \(modes\.Hypervisor in drover\.yaml\)/u,
  ],
  [
    'off by the variable',
    'Hypervisor',
    'off',
    null,
    { DROVER_MODE_HYPERVISOR: 'off' },
    false,
    /in DROVER_MODE_HYPERVISOR/u,
  ],
  ['the variable of another kind', 'VirtualMachine', 'off', null, { DROVER_MODE_HYPERVISOR: 'off' }, false, null],
  [
    'virtual machines are off',
    'VirtualMachine',
    'off',
    null,
    { DROVER_MODE_VIRTUAL_MACHINE: 'off' },
    false,
    /^VirtualMachines are switched off \(modes\.VirtualMachine in DROVER_MODE_VIRTUAL_MACHINE\)/u,
  ],
  ['observing', 'VirtualMachine', 'observe', 'drover.yaml', {}, false, /only observes VirtualMachines/u],
  ['acting', 'Hypervisor', 'act', 'drover.yaml', {}, false, null],
  ['the object asks for no more', 'Hypervisor', 'act', 'drover.yaml', {}, true, /node-1 asks drover to observe only/u],
])('what keeps drover from acting: %s', (_why, kind, mode, file, env, observed, words) => {
  const said = whyNothingHappens(
    kind,
    { config: parseConfig({ modes: { [kind]: mode } }, {}, {}), file },
    { name: 'node-1', observed },
    env,
  );
  if (words === null) expect(said).toBeNull();
  else expect(said).toMatch(words);
});
