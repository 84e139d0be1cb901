import type { Part } from '../part.ts';
import { type FoundPrograms, findPrograms, type ProgramSet } from '../programs.ts';

export interface TctlHandle {
  /** Path of the `tctl` program. It takes its server from TEMPORAL_CLI_ADDRESS. */
  readonly program: string;
}

const programs: ProgramSet<'tctl'> = {
  variable: 'DROVER_TCTL',
  programs: { tctl: { args: ['--version'], pattern: /tctl version (\S+)/, minor: '1.15' } },
  build: {
    name: 'tctl',
    folder: 'tctl',
    package: 'go.temporal.io/server/cmd/tools/cli',
    ldflags: '-s -w',
    usually: '1 min on two idle cores',
  },
};

/** The older command line of Temporal, which operators still have. Nothing runs: the part is the program. */
export const tctl: Part<TctlHandle, FoundPrograms<'tctl'>> = {
  name: 'tctl',
  title: 'tctl',
  usually: { cold: '1 min', warm: '0.1 s' },
  build: (context) => findPrograms(context, programs),
  async start(context, { paths }) {
    await context.publish('tctl', { target: paths.tctl });
    return { program: paths.tctl };
  },
  describe: () => ({ urls: {}, exports: {} }),
};
