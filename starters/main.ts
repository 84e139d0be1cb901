import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import type { OutputConfiguration } from 'commander';
import { redactText } from '../runtime/redaction.ts';
import { readVersion } from '../runtime/version.ts';
import type { CommandContext } from './command/context.ts';
import { usageError } from './command/error.ts';
import { exitCodes } from './command/exit-codes.ts';
import type { ExitCode } from './command/exit-codes.ts';
import { explainError } from './command/explain-error.ts';
import { processContext } from './command/process-context.ts';
import type { Terminal } from './command/terminal.ts';

/** A command as the overview lists it. Its module is loaded only when it is meant, so that each starts fast. */
interface CommandEntry {
  summary: string;
  group: string;
  load: () => Promise<MakeCommand>;
}

type MakeCommand = (context: CommandContext) => Command;

const evictions = 'Evictions:';
const running = 'While one runs:';
const hypervisors = 'Hypervisors:';
const virtualMachines = 'Virtual machines:';
const machines = 'Machines:';
const agentPools = 'Agent pools:';
const volumes = 'Volumes:';
const operation = 'Operation:';

const commands: Record<string, CommandEntry> = {
  evict: {
    group: evictions,
    summary: 'empty a host',
    load: async () => (await import('./eviction/evict.ts')).evictCommand,
  },
  ls: {
    group: evictions,
    summary: 'list what is in motion, waits or ended recently',
    load: async () => (await import('./eviction/ls.ts')).lsCommand,
  },
  describe: {
    group: evictions,
    summary: 'show everything about one host and its eviction, one virtual machine, agent pool or DataVolume',
    load: async () => (await import('./operate/describe.ts')).describeCommand,
  },
  watch: {
    group: evictions,
    summary: 'follow one until it ends, or its host is empty',
    load: async () => (await import('./eviction/follow.ts')).watchCommand,
  },
  cancel: {
    group: evictions,
    summary: 'stop one in good order',
    load: async () => (await import('./eviction/steer.ts')).cancelCommand,
  },
  retry: {
    group: evictions,
    summary:
      'try a stopped or failed one, one instance, a hypervisor, a virtual machine, an agent pool or a DataVolume again',
    load: async () => (await import('./operate/retry.ts')).retryCommand,
  },
  accept: {
    group: evictions,
    summary: 'accept obstacles, or consent to more',
    load: async () => (await import('./eviction/steer.ts')).acceptCommand,
  },
  pause: {
    group: running,
    summary: 'start no further moves',
    load: async () => (await import('./eviction/steer.ts')).pauseCommand,
  },
  resume: {
    group: running,
    summary: 'go on after a pause',
    load: async () => (await import('./eviction/steer.ts')).resumeCommand,
  },
  skip: {
    group: running,
    summary: 'leave one instance where it is',
    load: async () => (await import('./eviction/steer.ts')).skipCommand,
  },
  parallelism: {
    group: running,
    summary: 'set how many move at once',
    load: async () => (await import('./eviction/steer.ts')).parallelismCommand,
  },
  hosts: {
    group: hypervisors,
    summary: 'list them: state, what each waits for, who is needed',
    load: async () => (await import('./hypervisor/hosts.ts')).hostsCommand,
  },
  onboard: {
    group: hypervisors,
    summary: 'bring one into service',
    load: async () => (await import('./hypervisor/onboard.ts')).onboardCommand,
  },
  maintain: {
    group: hypervisors,
    summary: 'take one out of service for a while',
    load: async () => (await import('./hypervisor/maintain.ts')).maintainCommand,
  },
  activate: {
    group: hypervisors,
    summary: 'bring one back from maintenance',
    load: async () => (await import('./hypervisor/activate.ts')).activateCommand,
  },
  decommission: {
    group: hypervisors,
    summary: 'take one out of Nova for good',
    load: async () => (await import('./hypervisor/decommission.ts')).decommissionCommand,
  },
  confirm: {
    group: hypervisors,
    summary: 'say that a host which has failed is off',
    load: async () => (await import('./node-failure/confirm.ts')).confirmCommand,
  },
  'abandon-disks': {
    group: hypervisors,
    summary: 'give up local disks of servers on a dead host',
    load: async () => (await import('./node-failure/abandon-disks.ts')).abandonDisksCommand,
  },
  vms: {
    group: virtualMachines,
    summary: 'list them: state, what each waits for, who is needed',
    load: async () => (await import('./virtual-machine/vms.ts')).vmsCommand,
  },
  safety: {
    group: machines,
    summary: 'say whether they are frozen, since when and why',
    load: async () => (await import('./machines/safety.ts')).safetyCommand,
  },
  sweep: {
    group: machines,
    summary: 'delete orphan VMs; list, keep and approve of them; delete leftovers',
    load: async () => (await import('./machines/sweep.ts')).sweepCommand,
  },
  pools: {
    group: agentPools,
    summary: 'list them: demand, VMs, what each waits for; approve deletions; refresh ISOs',
    load: async () => (await import('./agent-pool/pools.ts')).poolsCommand,
  },
  clones: {
    group: volumes,
    summary: 'list them: how far each is, from what and how it is made, what each waits for',
    load: async () => (await import('./data-volume/clones.ts')).clonesCommand,
  },
  limits: {
    group: operation,
    summary: 'show what runs share: who has how much of it, what the limit is and why',
    load: async () => (await import('./operate/limits.ts')).limitsCommand,
  },
  stop: {
    group: operation,
    summary: 'hold drover back from every change, until lifted',
    load: async () => (await import('./operate/stop.ts')).stopCommand,
  },
  worker: { group: operation, summary: 'run a worker', load: async () => (await import('./worker.ts')).workerCommand },
  bridge: {
    group: operation,
    summary: 'run the bridge from Kubernetes to Temporal',
    load: async () => (await import('./bridge.ts')).bridgeCommand,
  },
  'copy-volume': {
    group: operation,
    summary: 'copy one volume into another, as the Job of a DataVolume does',
    load: async () => (await import('./copy-volume/copy-volume.ts')).copyVolumeCommand,
  },
  'codec-server': {
    group: operation,
    summary: 'decrypt payloads for the Web UI',
    load: async () => (await import('./operate/codec-server.ts')).codecServerCommand,
  },
  doctor: {
    group: operation,
    summary: 'check that everything drover needs is there',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
  crds: {
    group: operation,
    summary: 'print the CustomResourceDefinitions',
    load: async () => (await import('./operate/crds.ts')).crdsCommand,
  },
};

/** The command that is meant, as far as it must be known to load it. */
const meantCommand = ([first, second]: readonly string[]): string | undefined => (first === 'help' ? second : first);

const loaded = new Map<string, MakeCommand>();

async function loadCommand(name: string, { load }: CommandEntry): Promise<MakeCommand> {
  const make = loaded.get(name) ?? (await load());
  loaded.set(name, make);
  return make;
}

/** Loads every command, for a process that runs many and cannot wait for one when it is meant. */
export async function loadCommands(): Promise<void> {
  for (const [name, entry] of Object.entries(commands)) await loadCommand(name, entry);
}

async function composeProgram(argv: readonly string[], context: CommandContext): Promise<Command> {
  const program = new Command('drover')
    .description(
      'Drives herds of virtual machines: empties hypervisors and keeps them in service, durably, on Temporal.',
    )
    .version(readVersion())
    .addHelpText(
      'after',
      `
Temporal is found as by the temporal command: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_PROFILE and its TOML file.
Kubernetes is found as by kubectl; drover's own settings are in drover.yaml or the file that DROVER_CONFIG names.

Exit codes: 0 done, 1 ended otherwise than wanted, 2 bad usage or input, 3 something did not answer, 4 not found,
5 refused, 70 a fault of drover, 130 interrupted. docs/commands.md has everything.`,
    )
    .configureOutput(outputOf(context.terminal))
    // What stands after the word of a command's part is that part's.
    .enablePositionalOptions()
    .hook('preAction', (_program, part) => refuseBeforePart(part))
    .exitOverride();
  const meant = meantCommand(argv);
  for (const [name, entry] of Object.entries(commands)) {
    const command = name === meant ? (await loadCommand(name, entry))(context) : new Command(name);
    program.addCommand(command.copyInheritedSettings(program).summary(entry.summary).helpGroup(entry.group));
    for (const part of command.commands) part.copyInheritedSettings(command);
  }
  return program;
}

/**
 * What stands before the word of a part is the command's, and the part does not see it: it would act in another
 * namespace, or for real.
 */
function refuseBeforePart(part: Command): void {
  const command = part.parent;
  const option = command?.options.find((one) => command.getOptionValueSource(one.attributeName()) === 'cli');
  if (command === null || option === undefined) return;
  const flag = option.long ?? option.flags;
  const words = `drover ${command.name()} ${part.name()}`;
  throw usageError(
    `${flag} stands before "${part.name()}", which does not see it there. Nothing was done.`,
    part.options.some(({ long }) => long === option.long)
      ? `Say it after that word: \`${words} ${flag}\`.`
      : `\`${words}\` has no such option; \`${words} --help\` lists those that it has.`,
  );
}

/** Of help that is written into a file. */
const pageColumns = 80;

/** Where commander writes: the help, and what is wrong with the arguments. */
function outputOf(terminal: Terminal): OutputConfiguration {
  const lineOf = (text: string): string => text.replace(/\n$/u, '');
  const width = (): number => {
    const columns = terminal.widthColumns();
    return columns === Infinity ? pageColumns : columns;
  };
  return {
    writeOut: (text) => terminal.print(lineOf(text)),
    writeErr: (text) => terminal.remark(lineOf(text)),
    getOutHelpWidth: width,
    getErrHelpWidth: width,
  };
}

/** Runs `drover` with the arguments of its command line; returns the exit code. */
export async function main(argv: readonly string[], context: CommandContext): Promise<ExitCode> {
  try {
    const program = await composeProgram(argv, context);
    await program.parseAsync(argv, { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
    return report(error, context);
  }
}

/** What happened, what to do; where it happened only for those who debug drover itself. */
function report(error: unknown, { terminal, env }: CommandContext): ExitCode {
  const { message, advice, exitCode } = explainError(error);
  const write = (text: string): void => terminal.remark(redactText(text));
  write(`drover: ${message}`);
  if (advice !== null) write(`        ${advice}`);
  if ((env['DROVER_DEBUG'] ?? '') !== '') write(inspect(error));
  return exitCode;
}

const lists: readonly string[] = ['ls', 'describe', 'hosts', 'vms', 'safety', 'clones', 'limits', 'crds'];

/**
 * How a command ends whose output nobody reads any more. A reader that has seen enough of a list (`drover ls | head -1`)
 * is no fault; how anything else ended is not known then, as after Ctrl-C.
 */
export function exitCodeOfClosedOutput(argv: readonly string[]): ExitCode {
  const [name = 'help'] = argv;
  const isHelp = name === 'help' || name.startsWith('-') || argv.includes('--help') || argv.includes('-h');
  const isList =
    (lists.includes(name) && !argv.includes('--adopt')) ||
    (name === 'pools' && !argv.includes('approve') && !argv.includes('refresh-iso')) ||
    (name === 'sweep' && argv.includes('ls')) ||
    (name === 'stop' && argv.includes('--show'));
  return isHelp || isList ? exitCodes.ok : exitCodes.interrupted;
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodeOfClosedOutput(process.argv.slice(2)));
  });
  const argv = process.argv.slice(2);
  process.exitCode = await main(argv, processContext());
  // Node would wait for what a worker that failed leaves open: Temporal's SDK closes none that never ran. Of all others
  // it waits for what is written to a pipe.
  if (process.exitCode !== exitCodes.ok && meantCommand(argv) === 'worker') process.exit();
}
