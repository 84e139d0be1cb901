import { Argument, Command } from 'commander';
import { stopAbandonedRuns } from './command-run.ts';
import { untilInterrupted } from './interruption.ts';
import { LabError } from './lab-error.ts';
import { labDirectory, readLab, startLab, stopLab, wipeLab } from './lab.ts';
import type { PartName } from './part.ts';
import { defaultPartNames, partNames } from './parts.ts';
import { formatStatus } from './status.ts';

/** `npm run lab -- up|down|status|reset [parts…]`. */

const EXIT_FAILED = 1;
const EXIT_INTERRUPTED = 130;

const interrupted = untilInterrupted(new LabError('interrupted; what had been started is stopped again'));

const report = (line: string) => void process.stderr.write(`${line}\n`);
const optionsFor = (parts: PartName[]) => ({ report, signal: interrupted, ...(parts.length > 0 ? { parts } : {}) });
const printStatus = () => void process.stdout.write(formatStatus(readLab(labDirectory())));

const program = new Command('lab')
  .description(
    'The real counterparts drover is tried against, on loopback: Temporal, tctl, Kubernetes, OpenStack; libvirt, Open vSwitch, Ceph, BMCs, vSphere and CSI where they are asked for.',
  )
  .addHelpText(
    'after',
    `
Its directory is $DROVER_LAB, else .lab in the checkout; what is built goes to $DROVER_CACHE, else ~/.cache/drover.

Examples:
  npm run lab -- up                        what an eviction needs; the first time it builds, which takes a quarter of an hour
  npm run lab -- up temporal kubernetes    only these
  npm run lab -- up libvirt ovs ceph       what hypervisors need: Debian's packages, which root installs; redfish for BMCs
  npm run lab -- up vsphere                a vCenter to try things on, and govc; isos for a server of discovery ISOs
  npm run lab -- up kubernetes csi         volumes with snapshots and clones, in directories; with ceph, as images too
  eval "$(npm run --silent lab -- status)" use it in this shell: kubectl, temporal, tctl, openstack`,
  );

const usualParts = `default: ${defaultPartNames.join(', ')}`;

const command = (name: string, description: string, whichParts: string, action: (parts: PartName[]) => Promise<void>) =>
  program
    .command(name)
    .description(description)
    .addArgument(new Argument('[parts...]', whichParts).choices(partNames))
    .action(async (parts: PartName[]) => {
      await stopAbandonedRuns(report);
      await action(parts);
    });

command('up', 'start what is not up yet, on the data it had', usualParts, async (parts) => {
  await startLab(optionsFor(parts));
  printStatus();
});
command('down', 'stop; data stays', 'default: all', async (parts) => {
  await stopLab(optionsFor(parts));
  report(`${parts.length > 0 ? parts.join(', ') : 'the lab'} in ${labDirectory()}: down`);
});
command('reset', 'stop, remove the data, start anew', usualParts, async (parts) => {
  await wipeLab(optionsFor(parts.length > 0 ? parts : [...defaultPartNames]));
  await startLab(optionsFor(parts));
  printStatus();
});
program.command('status').description('what is up, where, and exports for a shell').action(printStatus);

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof LabError)) throw error;
  report(error.message);
  process.exitCode = interrupted.aborted ? EXIT_INTERRUPTED : EXIT_FAILED;
}
