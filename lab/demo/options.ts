import { Command, Option } from 'commander';

/** Stories that can be run alone. */
export const stories = ['host', 'eviction', 'vm', 'sweep', 'pool', 'clone'] as const;
export type StoryName = (typeof stories)[number];

export interface DemoOptions {
  once: boolean;
  /** Null: the host and the eviction. */
  only: StoryName | null;
}

/** `npm start -- …`. A wrong option is reported, and the program ends with exit code 1 before anything is started. */
export const demoCommand = (): Command =>
  new Command('npm start --')
    .description(
      'Shows drover at work on the real counterparts, on this machine: a new host is brought into service, another one is emptied.',
    )
    .option('--once', 'end by itself: exit code 0 when all ended as it should', false)
    .addOption(
      new Option(
        '--only <story>',
        'one story by itself. host: a new host comes into service; eviction: a host is emptied; vm: a virtual machine on vSphere is made, powered, resized and deleted; sweep: VMs that belong to no Machine are deleted; pool: VMs for the Machines of a NodePool, from 0 to 10 and back; clone: eleven clones of a volume, one of them in another namespace',
      ).choices(stories),
    )
    .allowExcessArguments(false);

export function readOptions(args: readonly string[], command: Command = demoCommand()): DemoOptions {
  const { once, only = null } = command.parse(args, { from: 'user' }).opts<{ once: boolean; only?: StoryName }>();
  return { once, only };
}
