import { readFile } from 'node:fs/promises';
import type { CheckFindings, CheckRequest } from '../../contracts/hypervisor-activities.ts';
import type { HostCheck } from '../../contracts/host-check.ts';
import { droverFailure } from '../../runtime/failure.ts';
import type { HypervisorConfig } from '../../runtime/hypervisor-config.ts';
import type { ObserveCall } from '../../runtime/outside-calls.ts';
import { checkCeph } from '../ceph/check-ceph.ts';
import { openCeph } from '../ceph/client.ts';
import { checkLibvirt } from '../libvirt/check-libvirt.ts';
import { runSmokeCheck } from '../nova/run-smoke-check.ts';
import type { Tools } from '../nova/dependencies.ts';
import { whileBeating } from '../nova/wait.ts';
import { checkOvs } from '../ovs/check-ovs.ts';
import { reachRbdPools } from './reach-rbd-pools.ts';

export interface CheckTools {
  config: Pick<HypervisorConfig, 'libvirt' | 'ovs' | 'ceph' | 'smoke'>;
  /** Where the host is reached, by the Hypervisor's name; default: that name. */
  addressOf: (hypervisor: string) => Promise<string>;
  nova: Tools;
  observe?: ObserveCall;
}

/** For a test server to be gone again. */
const cleanUpMs = 60_000;

/**
 * Runs one check of the Testing phase. What is wrong with the host is a finding; what keeps drover from asking is a failure.
 *
 * @throws InvalidConfiguration where the check's section is missing, or a file that it names
 */
export function runCheck(tools: CheckTools, request: CheckRequest): Promise<CheckFindings> {
  return whileBeating(tools.nova.scope, () => undefined, () => checks[request.check](tools, request));
}

type Check = (tools: CheckTools, request: CheckRequest) => Promise<CheckFindings>;

const checks: Readonly<Record<CheckRequest['check'], Check>> = {
  async libvirt({ config: { libvirt }, addressOf, nova: { scope }, observe }, { hypervisor }) {
    const settings = configured(libvirt, 'libvirt');
    const { checks: found, versions } = await checkLibvirt(await addressOf(hypervisor), { ...settings, timeouts: {} }, scope.signal, observe);
    return { results: [...found], libVirtVersion: versions?.libvirt ?? null };
  },

  async ovs({ config: { ovs }, addressOf, nova: { scope }, observe }, { hypervisor }) {
    const { remote, tls, bridges } = configured(ovs, 'ovs');
    const credential = tls === null ? null : { ca: await readText(tls.caFile), certificate: await readText(tls.certFile), key: await readText(tls.keyFile) };
    return { results: await checkOvs(await addressOf(hypervisor), { remote, credential, bridges }, scope.signal, observe), libVirtVersion: null };
  },

  async ceph({ config: { ceph, libvirt }, addressOf, nova: { scope }, observe }, { hypervisor }) {
    const { dashboards, user, passwordFile, caFile, pools, toleratedChecks, rbd } = configured(ceph, 'ceph');
    const password = (await readText(passwordFile)).replace(/\r?\n$/u, '');
    const settings = { dashboards, user, password, ca: caFile === null ? null : await readText(caFile), pools, toleratedChecks };
    const client = openCeph(settings, observe === undefined ? {} : { observe });
    try {
      const results = await checkCeph(client, settings, scope.signal);
      if (rbd === null) return { results, libVirtVersion: null };
      const reached = await reachRbdPools({ hypervisor, address: await addressOf(hypervisor), libvirt: configured(libvirt, 'libvirt'), rbd, pools }, scope.signal, observe);
      return { results: [...results, ...reached], libVirtVersion: null };
    } finally {
      await client.close();
    }
  },

  async smoke({ config, nova }, { hypervisor, uid }) {
    const { flavorId, imageId, console, deadlineMs } = configured(config.smoke, 'smoke');
    const startedMs = performance.now();
    const findings = await runSmokeCheck(nova, { owner: { host: hypervisor, hypervisor, uid }, flavorId, imageId, console, deadlineMs, cleanUpMs });
    const durationMs = Math.round(performance.now() - startedMs);
    return { results: findings.map((finding): HostCheck => ({ ...finding, name: smokeNames[finding.name] ?? 'Smoke', outcome: finding.code === null ? 'passed' : 'failed', durationMs })), libVirtVersion: null };
  },
};

/** A run that was opened with other settings may ask for a check that is not configured any more. */
function configured<Section>(section: Section | null, name: string): Section {
  if (section === null) throw droverFailure('InvalidConfiguration', `hypervisor.${name} is not set, so its check cannot be made`);
  return section;
}

/** As types of conditions. */
const smokeNames: Readonly<Record<string, string>> = { server: 'SmokeServer', console: 'SmokeConsole', 'clean-up': 'SmokeCleanUp' };

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw droverFailure('InvalidConfiguration', `${file} cannot be read: ${(error as Error).message}`);
  }
}
