import { Option } from 'commander';
import type { Command } from 'commander';
import { openSession } from '../activities/keystone/client.ts';
import { createNovaClient } from '../activities/nova/client.ts';
import { createPlacementClient } from '../activities/placement/client.ts';
import type { Config } from '../runtime/config/config-schema.ts';
import { loadOpenStackSettings } from '../runtime/config/openstack-settings.ts';
import type { OpenStackSettings } from '../runtime/config/openstack-settings.ts';
import { loadVcenters, speaksToVcenters } from '../runtime/config/vsphere-settings.ts';
import type { Kubernetes } from '../runtime/kubernetes/kubernetes.ts';
import { checkNeighbours, checkPools, judgeIsoHosts } from './checks/agent-pools.ts';
import { checkClonePolicy, checkSnapshots, judgeCopyImage } from './checks/data-volumes.ts';
import { checkClaim } from './checks/claim.ts';
import type { Finding } from './checks/finding.ts';
import { examine, ok } from './checks/finding.ts';
import {
  checkClock,
  checkDefinitions,
  checkKubernetes,
  checkNamespace,
  checkStops,
  neededDefinitions,
  reviewSelf,
} from './checks/kubernetes.ts';
import { checkGuardsLeft, judgeChecks, judgeForcedDown } from './checks/leftovers.ts';
import type { OpenStackProbe } from './checks/openstack.ts';
import { checkCredential, checkNova, checkPlacement } from './checks/openstack.ts';
import { checkPermissions } from './checks/permissions.ts';
import { checkApiServerSafety, checkReplacedManager } from './checks/replaced-manager.ts';
import { checkReplacedOperator, replacedOperators } from './checks/replaced-operator.ts';
import { checkQueues, checkSearchAttributes, checkTemporal, neededQueues } from './checks/temporal.ts';
import { checkConversion, checkSwitches } from './checks/virtual-machines.ts';
import { describedCommand, jsonOption } from './command/command.ts';
import type { CommandContext } from './command/context.ts';
import { exitCodes } from './command/exit-codes.ts';
import { interruptible } from './command/interruption.ts';
import { withKubernetes } from './command/kubernetes-access.ts';
import { renderFindings } from './render/table.ts';
import { printJson } from './command/terminal.ts';

const systems = ['temporal', 'kubernetes', 'openstack'] as const;
type System = (typeof systems)[number];

export const doctorCommand = (context: CommandContext): Command =>
  describedCommand(
    'doctor',
    'Checks everything that drover needs, and says what to do about what is missing. Changes nothing without --fix. Exit code 1 when something fails.',
    [
      ['drover doctor', 'everything'],
      ['drover doctor --fix', 'and register the search attributes that are missing'],
      ['drover doctor --only temporal', 'one system'],
      ['drover doctor --json | jq ".[] | select(.status != \\"ok\\")"', 'for programs'],
    ],
  )
    .option('--fix', 'register missing search attributes in Temporal')
    .addOption(new Option('--only <system>', 'check one system').choices(systems))
    .addOption(jsonOption())
    .action(({ fix = false, only, json = false }: { fix?: boolean; only?: System; json?: boolean }) =>
      interruptible(context, async (abort) => {
        const { terminal } = context;
        const findings = await examineAll(context, only === undefined ? systems : [only], fix, abort);
        if (json) printJson(terminal, findings);
        else for (const line of renderFindings(findings, terminal.paint)) terminal.print(line);
        if (findings.some(({ status }) => status === 'fail')) context.exitCode = exitCodes.failed;
      }),
    );

async function examineAll(
  context: CommandContext,
  chosen: readonly System[],
  fix: boolean,
  abort: AbortSignal,
): Promise<Finding[]> {
  // Everything else depends on the settings, so nothing can be checked without them.
  const { config, file } = await context.loadConfig();
  const settings = ok('settings', file ?? 'no file, so everything is at its default');
  const openstack = readOpenStack(config, context.env);
  const examinations: Record<System, () => Promise<Finding[]>> = {
    temporal: () =>
      examineTemporal({ context, config, abort }, fix, openstack instanceof Error ? null : openstack.region),
    kubernetes: () => examineKubernetes({ context, config, abort }),
    openstack: () => examineOpenStack({ context, config, abort }, openstack),
  };
  const found = await Promise.all(chosen.map((system) => examinations[system]()));
  return [settings, ...found.flat()];
}

interface Examination {
  context: CommandContext;
  config: Config;
  abort: AbortSignal;
}

/** Whose Machines drover has an eye on. */
const watchedNamespaces = ({ modes, machines }: Config): string[] =>
  modes.Machine === 'off' ? [] : machines.namespaces;

function readOpenStack({ openstack: { cloud } }: Config, env: NodeJS.ProcessEnv): OpenStackSettings | Error {
  try {
    return loadOpenStackSettings(env, cloud === null ? {} : { cloud });
  } catch (error) {
    return error as Error;
  }
}

async function examineTemporal(
  { context, config, abort }: Examination,
  fix: boolean,
  region: string | null,
): Promise<Finding[]> {
  const opened = await context.openTemporal(config).catch((error: unknown) => ({ error }));
  if ('error' in opened) return await examine('Temporal', abort, () => Promise.reject(opened.error));
  const { client, namespace } = opened;
  try {
    const reached = await examine('Temporal', abort, (signal) => checkTemporal(opened, signal));
    // Of a server that cannot be reached, one line is enough.
    if (reached.some(({ status }) => status === 'fail')) return reached;
    const further = await Promise.all([
      examine('search attributes', abort, (signal) => checkSearchAttributes(client, namespace, fix, signal)),
      examine('queues', abort, (signal) => {
        const queues = neededQueues(config, { region, vcenters: vcenterNames(config, context.env) });
        return checkQueues(client, queues, context.clock.now(), signal);
      }),
      withKubernetes({ context, config, abort }, (access) =>
        examine('name of the cluster', abort, async (signal) =>
          checkClaim(
            { temporal: client, kubernetes: await access.open(), clock: context.clock },
            { cluster: config.cluster, region },
            signal,
          ),
        ),
      ),
      ...watchedNamespaces(config).map((watched) =>
        examine(`API-server safety of ${watched}`, abort, (signal) =>
          checkApiServerSafety(opened, watched, config, { clock: context.clock, signal }),
        ),
      ),
    ]);
    return [...reached, ...further.flat()];
  } finally {
    await client.connection.close();
  }
}

/** Without the files that describe them, which only a worker needs. */
function vcenterNames(config: Config, env: NodeJS.ProcessEnv): string[] {
  const named = Object.keys(config.vsphere.vcenters);
  return named.length > 0 || !speaksToVcenters(config)
    ? named
    : loadVcenters(config.vsphere, env).map(({ name }) => name);
}

const examineKubernetes = ({ context, config, abort }: Examination): Promise<Finding[]> =>
  withKubernetes({ context, config, abort }, async (access) => {
    const reached = await examine('Kubernetes', abort, async (signal) => checkKubernetes(await access.open(), signal));
    if (reached.some(({ status }) => status === 'fail')) return reached;
    const kubernetes = await access.open();
    const { migrationNamespace, systemNamespace } = config.kubernetes;
    const names = { migrationNamespace, systemNamespace, leaseName: config.bridge.leaseName };
    const { username, serverTimeMs } = await reviewSelf(kubernetes, abort).catch(() => ({
      username: 'unknown',
      serverTimeMs: null,
    }));
    const nowMs = context.clock.now();
    const further = await Promise.all([
      examine('CRDs', abort, (signal) => checkDefinitions(kubernetes, neededDefinitions(config.modes), signal)),
      examine(`namespace ${migrationNamespace}`, abort, (signal) =>
        checkNamespace(kubernetes, migrationNamespace, 'Migration objects live there', signal),
      ),
      examine(`namespace ${systemNamespace}`, abort, (signal) =>
        checkNamespace(kubernetes, systemNamespace, 'drover’s own objects live there', signal),
      ),
      examine('permissions', abort, (signal) =>
        checkPermissions(
          kubernetes,
          username,
          names,
          {
            modes: config.modes,
            guardsDrain: config.hypervisor.guardsDrain,
            certificates: config.hypervisor.certificates?.namespace ?? null,
            fastDeploy: config.virtualMachine.fastDeploy !== null,
            groups: config.virtualMachine.groups,
          },
          signal,
        ),
      ),
      examine('replaced operator', abort, (signal) =>
        checkReplacedOperator(
          kubernetes,
          replacedOperators.hypervisors,
          config.modes.Eviction,
          serverTimeMs ?? nowMs,
          signal,
        ),
      ),
      ...(config.modes.Hypervisor === 'off'
        ? []
        : [
            examine('drain guards of the replaced operator', abort, (signal) =>
              checkGuardsLeft(kubernetes, config.hypervisor.guardsDrain, signal),
            ),
            Promise.resolve(judgeChecks(config.hypervisor, config.modes.Hypervisor)),
          ]),
      ...(hasPools(config.modes) ? examinePools({ context, config, abort }, kubernetes, serverTimeMs ?? nowMs) : []),
      ...(config.modes.VirtualMachine === 'off' ? [] : examineVirtualMachines({ context, config, abort }, kubernetes)),
      ...(config.modes.DataVolume === 'off'
        ? []
        : examineVolumes({ context, config, abort }, kubernetes, serverTimeMs ?? nowMs)),
      ...watchedNamespaces(config).map((watched) =>
        examine(`machine-controller-manager in ${watched}`, abort, (signal) =>
          checkReplacedManager(kubernetes, watched, config.modes.Machine, signal),
        ),
      ),
      examine('drover stop', abort, (signal) => checkStops(kubernetes, systemNamespace, signal)),
    ]);
    return [...reached, ...checkClock(serverTimeMs, nowMs), ...further.flat()];
  });

/** Neither is on without the other. */
const hasPools = (modes: Config['modes']): boolean => modes.VsphereAgentPool !== 'off' || modes.VsphereAgent !== 'off';

function examinePools(
  { context: { env }, config, abort }: Examination,
  kubernetes: Kubernetes,
  nowMs: number,
): Promise<Finding[]>[] {
  const mode = config.modes.VsphereAgentPool;
  const { namespaces, iso } = config.agentPools;
  return [
    examine('kinds that agent pools read', abort, (signal) => checkNeighbours(kubernetes, signal)),
    examine('agent pools', abort, (signal) =>
      checkPools(
        kubernetes,
        { mode, namespaces, vcenters: loadVcenters(config.vsphere, env).map(({ name }) => name) },
        signal,
      ),
    ),
    Promise.resolve([judgeIsoHosts(iso.hosts, mode)]),
    examine('agent-forge-operator', abort, (signal) =>
      checkReplacedOperator(kubernetes, replacedOperators.agentPools, mode, nowMs, signal),
    ),
  ];
}

function examineVirtualMachines({ config, abort }: Examination, kubernetes: Kubernetes): Promise<Finding[]>[] {
  return [
    examine('fast deploy and groups of VMs', abort, (signal) =>
      checkSwitches(kubernetes, config.virtualMachine, signal),
    ),
    examine('older versions of VirtualMachines', abort, (signal) =>
      checkConversion(kubernetes, config.modes.VirtualMachine, signal),
    ),
  ];
}

function examineVolumes({ config, abort }: Examination, kubernetes: Kubernetes, nowMs: number): Promise<Finding[]>[] {
  const mode = config.modes.DataVolume;
  return [
    examine('volume snapshots', abort, (signal) => checkSnapshots(kubernetes, mode, signal)),
    examine('admission policy of clones', abort, (signal) => checkClonePolicy(kubernetes, mode, signal)),
    Promise.resolve([judgeCopyImage(config.dataVolumes.copyImage)]),
    examine('controller of CDI', abort, (signal) =>
      checkReplacedOperator(kubernetes, replacedOperators.dataVolumes, mode, nowMs, signal),
    ),
  ];
}

async function examineOpenStack(
  { context: { clock }, config, abort }: Examination,
  settings: OpenStackSettings | Error,
): Promise<Finding[]> {
  if (settings instanceof Error) return await examine('OpenStack settings', abort, () => Promise.reject(settings));
  const session = openSession(settings, { clock });
  const [nova, placement] = [createNovaClient(session), createPlacementClient(session)];
  const probe: OpenStackProbe = {
    region: session.region,
    identity: (signal) => session.identity(signal),
    computeServices: (signal) => nova.computeServices(signal),
    servers: (filter, signal) => nova.servers(filter, signal),
    resourceProviders: (filter, signal) => placement.resourceProviders(filter, signal),
  };
  try {
    const credential = await examine('OpenStack credential', abort, (signal) => checkCredential(probe, signal));
    if (credential.some(({ status }) => status === 'fail')) return credential;
    const further = await Promise.all([
      examine(`Nova in ${probe.region}`, abort, (signal) => checkNova(probe, signal)),
      examine('Placement', abort, (signal) => checkPlacement(probe, signal)),
      ...(config.modes.Hypervisor === 'off'
        ? []
        : [
            examine('hosts that Nova has forced down', abort, async (signal) =>
              judgeForcedDown(await nova.computeServices(signal)),
            ),
          ]),
    ]);
    return [...credential, ...further.flat()];
  } finally {
    await session.close();
  }
}
