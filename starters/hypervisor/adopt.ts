import { guardNamespace } from '../../contracts/hypervisor/drain-guard.ts';
import { openObjects } from '../../runtime/kubernetes/objects.ts';
import type { CommandContext } from '../command/context.ts';
import { usageError } from '../command/error.ts';
import type { KubernetesAccess } from '../command/kubernetes-access.ts';
import { refuseOtherCluster } from '../command/own-cluster.ts';
import { withTemporal } from '../command/temporal-access.ts';
import { hypervisorAccess } from './hypervisor-access.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { unknownHost } from './hypervisor-objects.ts';
import { forcedDownByOthers, guardKinds, type GuardLeft, guardsLeft } from './leftovers.ts';
import { consentChange } from './plan-decommission.ts';
import { signalRun } from './send-hypervisor.ts';

export interface Adoption {
  /** Empty: all hosts. */
  hosts: readonly string[];
  consent: boolean;
  by: string;
}

/**
 * Shows what a replaced operator has left on hosts, and takes it back by consent: what holds drains back is deleted
 * with the user's own rights; that a host is forced down is taken back by its run, which records whose
 * consent that was.
 */
export async function adopt(
  { context, kubernetes, abort }: { context: CommandContext; kubernetes: KubernetesAccess; abort: AbortSignal },
  { hosts, consent, by }: Adoption,
): Promise<void> {
  const { terminal, clock } = context;
  const { config, file } = await context.loadConfig();
  const access = hypervisorAccess(kubernetes);
  const { hypervisors, unreadable } = await access.list();
  // One that does not fit its schema may be driven all the same.
  const known = [...hypervisors, ...unreadable.map((name) => ({ name, lifecycleEnabled: true }))];
  const found = await Promise.all(
    guardKinds.map(async (kind) => {
      const { found: objects } = await kubernetes.list(kind, guardNamespace);
      return guardsLeft(kind, objects, known, config.hypervisor.guardsDrain);
    }),
  );
  const isMeant = (name: string): boolean => hosts.length === 0 || hosts.includes(name);
  const guards = found.flat().filter(({ node }) => isMeant(node));
  const forced = forcedDownByOthers(hypervisors).filter(({ name }) => isMeant(name));
  const unknown = hosts.find(
    (host) => !known.some(({ name }) => name === host) && !guards.some(({ node }) => node === host),
  );
  if (unknown !== undefined)
    throw unknownHost(
      unknown,
      known.map(({ name }) => name),
      'Nothing was changed.',
    );
  const unjudged = unreadable.filter(isMeant);
  if (unjudged.length > 0)
    terminal.remark(`Not as their schema says, so whether they are forced down is not known: ${unjudged.join(', ')}.`);
  if (guards.length + forced.length === 0)
    return terminal.print('The replaced operator has left nothing here that drover would have to take over.');

  for (const line of describeLeftovers(guards, forced)) terminal.print(line);
  // Without settings the command's default says nothing of what the workers hold back, under the same names.
  const unsure = guards.length > 0 && file === null;
  if (!consent)
    return terminal.remark(
      `Nothing was changed. ${unsure ? `${whoseGuards} --consent needs them.` : 'The same with --consent takes it back, and records that you said so.'}`,
    );
  if (unsure) throw usageError(`${whoseGuards} Nothing was changed.`, giveSettings);
  await withTemporal(context, abort, async (temporal) => {
    await refuseOtherCluster(temporal, kubernetes);
    const objects = openObjects(await kubernetes.open());
    for (const { kind, object } of guards) {
      await objects.delete(kind, { ...object.metadata, namespace: guardNamespace }, abort);
      terminal.print(`Deleted ${kind.kind} ${guardNamespace}/${object.metadata.name}.`);
    }
    for (const hypervisor of forced) {
      const after = await access.patch(hypervisor, { annotations: liftConsent(hypervisor, by, clock.now()) });
      await signalRun(temporal, after.name, after, 'annotations', by);
      terminal.print(`${after.name}: its run takes back that it is forced down. \`drover describe ${after.name}\``);
    }
  });
}

const whoseGuards =
  'Whether drover itself holds these drains back (hypervisor.guardsDrain) is not known without its settings.';
const giveSettings =
  'Give the settings that the workers have, an empty file where they have none: DROVER_CONFIG=/path/to/drover.yaml. Hosts that are forced down alone need none: name them.';

/** The run takes it back on this. */
export const liftConsent = (
  hypervisor: Pick<HypervisorObject, 'annotations'>,
  by: string,
  nowMs: number,
): Record<string, string> => consentChange(hypervisor, { consent: ['lift-forced-down'], by }, nowMs);

const describeLeftovers = (guards: readonly GuardLeft[], forced: readonly HypervisorObject[]): string[] => [
  ...guards.map(
    ({ kind, node, object }) =>
      `${node}: ${kind.kind} ${guardNamespace}/${object.metadata.name} holds the drain of its Node back for ever`,
  ),
  ...forced.map(
    ({ name }) =>
      `${name}: Nova has it forced down. Make sure that none of its guests runs a second time on it before it is taken back`,
  ),
];
