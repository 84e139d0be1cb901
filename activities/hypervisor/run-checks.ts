import type { CheckFindings, CheckRequest } from '../../contracts/hypervisor/activities.ts';
import { type HostCheck, smokeCleanUpMs } from '../../contracts/hypervisor/host-check.ts';
import type { HypervisorCheck } from '../../contracts/hypervisor/hypervisor.ts';
import type { HypervisorConfig } from '../../runtime/config/hypervisor-config.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { Random } from '../../runtime/random.ts';
import { requireText } from '../../runtime/read-text.ts';
import { checkCeph } from '../ceph/check-ceph.ts';
import type { CephClient, CephSettings } from '../ceph/types.ts';
import { sessionKey, type SharedSessions } from '../lib/shared-sessions.ts';
import { whileBeating } from '../lib/wait.ts';
import { checkLibvirt } from '../libvirt/check-libvirt.ts';
import type { Tools } from '../nova/dependencies.ts';
import { runSmokeCheck } from '../nova/run-smoke-check.ts';
import { checkOvs } from '../ovs/check-ovs.ts';
import type { HostPorts } from './host-ports.ts';
import { reachRbdPools } from './reach-rbd-pools.ts';

export interface CheckTools {
  config: Pick<HypervisorConfig, 'libvirt' | 'ovs' | 'ceph' | 'smoke'>;
  /** Where the host is reached, by the Hypervisor's name; default: that name. */
  addressOf: (hypervisor: string) => Promise<string>;
  nova: Tools;
  ports: HostPorts;
  /** Of this worker: all checks ask Ceph with one login, and none repeats one that was refused. */
  ceph: SharedSessions<CephClient>;
  random: Random;
}

/**
 * Runs checks of the Testing phase, at once. What is wrong with the host is a finding; what keeps drover from asking is
 * a failure.
 *
 * @throws InvalidConfiguration where a check's section is missing, or a file that it names
 */
export function runChecks(tools: CheckTools, request: CheckRequest): Promise<CheckFindings[]> {
  return whileBeating(
    tools.nova,
    () => undefined,
    async () => {
      const found = request.checks.map(async (check) => ({ check, ...(await checks[check](tools, request)) }));
      // None goes on beside the next attempt.
      await Promise.allSettled(found);
      return await Promise.all(found);
    },
  );
}

type Check = (
  tools: CheckTools,
  host: Pick<CheckRequest, 'hypervisor' | 'uid' | 'host'>,
) => Promise<Omit<CheckFindings, 'check'>>;

const checks: Readonly<Record<HypervisorCheck, Check>> = {
  async libvirt({ config: { libvirt }, addressOf, nova: { scope, clock }, ports, random }, { hypervisor }) {
    const settings = configured(libvirt, 'libvirt');
    const { checks: found, versions } = await checkLibvirt(
      { ...ports, clock, random },
      await addressOf(hypervisor),
      { ...settings, timeouts: {} },
      scope.signal,
    );
    return { results: [...found], libVirtVersion: versions?.libvirt ?? null };
  },

  async ovs({ config: { ovs }, addressOf, nova: { scope, clock }, ports }, { hypervisor }) {
    const { remote, tls, bridges } = configured(ovs, 'ovs');
    const text = (file: string): Promise<string> => textOf(ports, file, scope.signal);
    const credential =
      tls === null
        ? null
        : { ca: await text(tls.caFile), certificate: await text(tls.certFile), key: await text(tls.keyFile) };
    return {
      results: await checkOvs(
        { ...ports, clock },
        await addressOf(hypervisor),
        { remote, credential, bridges },
        scope.signal,
      ),
      libVirtVersion: null,
    };
  },

  async ceph({ config: { ceph, libvirt }, addressOf, nova: { scope, clock }, ports, ceph: clients }, { hypervisor }) {
    const { dashboards, user, passwordFile, caFile, pools, toleratedChecks, rbd } = configured(ceph, 'ceph');
    const password = (await textOf(ports, passwordFile, scope.signal)).replace(/\r?\n$/u, '');
    const settings: CephSettings = {
      dashboards,
      user,
      password,
      ca: caFile === null ? null : await textOf(ports, caFile, scope.signal),
      pools,
      toleratedChecks,
    };
    const results = await clients.use(
      // Files may be renewed: what they say now is what counts.
      sessionKey(settings),
      () => ports.openCeph(settings),
      (client) => checkCeph(client, hypervisor, settings, clock, scope.signal),
    );
    if (rbd === null) return { results, libVirtVersion: null };
    const reached = await reachRbdPools(
      { ...ports, clock },
      { hypervisor, address: await addressOf(hypervisor), libvirt: configured(libvirt, 'libvirt'), rbd, pools },
      scope.signal,
    );
    return { results: [...results, ...reached], libVirtVersion: null };
  },

  async smoke({ config, nova }, { hypervisor, uid, host = hypervisor }) {
    const { flavorId, imageId, console, deadlineMs } = configured(config.smoke, 'smoke');
    const startedMs = nova.clock.monotonicMs();
    const findings = await runSmokeCheck(nova, {
      owner: { host, hypervisor, uid },
      flavorId,
      imageId,
      console,
      deadlineMs,
      cleanUpMs: smokeCleanUpMs,
    });
    const durationMs = Math.round(nova.clock.monotonicMs() - startedMs);
    return {
      results: findings.map((finding): HostCheck => ({
        ...finding,
        name: smokeNames[finding.name] ?? 'Smoke',
        outcome: finding.code === null ? 'passed' : 'failed',
        durationMs,
        // Its flavor, its image, or the quota of drover's project.
        ...(finding.code === 'SmokeServerRefused' && { beyondHost: true as const }),
      })),
      libVirtVersion: null,
    };
  },
};

/** A run that was opened with other settings may ask for a check that is not configured any more. */
function configured<Section>(section: Section | null, name: string): Section {
  if (section === null)
    throw droverFailure('InvalidConfiguration', `hypervisor.${name} is not set, so its check cannot be made`);
  return section;
}

/** As types of conditions. */
const smokeNames: Readonly<Record<string, string>> = {
  server: 'SmokeServer',
  console: 'SmokeConsole',
  'clean-up': 'SmokeCleanUp',
};

const textOf = ({ readText }: HostPorts, file: string, signal: AbortSignal): Promise<string> =>
  requireText(readText, file, file, signal);
