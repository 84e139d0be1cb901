import type { ErrorCode } from '../../contracts/errors.ts';
import type { HostCheck } from '../../contracts/hypervisor/host-check.ts';
import type { Clock } from '../../runtime/clock.ts';
import { failureCode } from '../../runtime/failure.ts';
import type { Random } from '../../runtime/random.ts';
import { isOlder } from '../preflight/judge-hosts.ts';
import { type LibvirtOpener, type LibvirtSettings, openLibvirt } from './access.ts';
import type { DomainState, LibvirtConnection, LibvirtVersions } from './types.ts';
import { isOwn, newCheckName, tinyDomainXml } from './xml.ts';

/** What was found, with the version for `status.libVirtVersion`; null where the daemon was not reached. */
export interface LibvirtFindings {
  checks: readonly HostCheck[];
  versions: LibvirtVersions | null;
}

export interface LibvirtCheckTools extends LibvirtOpener {
  clock: Clock;
  random: Random;
}

const names = { reachable: 'LibvirtReachable', version: 'LibvirtVersion', starts: 'LibvirtStartsVm' } as const;

/**
 * Checks libvirt on a hypervisor: it is reached, it is new enough, and a tiny VM starts, which is destroyed at once, by
 * the daemon itself if this process dies. Leaves nothing behind, and may run twice at once. A check that fails is a
 * finding, never a failure.
 *
 * @throws only the signal's reason when it is aborted
 */
export async function checkLibvirt(
  tools: LibvirtCheckTools,
  host: string,
  settings: LibvirtSettings,
  signal: AbortSignal,
): Promise<LibvirtFindings> {
  const reached = await finding(
    tools.clock,
    names.reachable,
    `libvirt answers at ${settings.connectUri.replaceAll('{host}', () => host)}`,
    signal,
    async () => {
      const target = { libvirt: settings, address: host, timeouts: settings.timeouts };
      const opened = await openLibvirt(tools, target, signal);
      return { isPassed: true, observed: `it opened ${opened.uri}`, value: opened };
    },
  );
  if (reached.value === null) return { checks: [reached.check, ...skipped(settings)], versions: null };
  try {
    return await checkConnection(tools, reached.value, reached.check, settings, signal);
  } finally {
    await reached.value.close();
  }
}

async function checkConnection(
  { clock, random }: LibvirtCheckTools,
  libvirt: LibvirtConnection,
  reached: HostCheck,
  settings: LibvirtSettings,
  signal: AbortSignal,
): Promise<LibvirtFindings> {
  const version = await finding(clock, names.version, expectedVersion(settings), signal, async () => {
    const versions = await libvirt.versions(signal);
    const { isEnough, observed } = judgeVersion(versions.libvirt, settings.minimumVersion);
    return {
      isPassed: isEnough,
      observed: `${observed} with ${versions.driver} ${versions.hypervisor}`,
      value: versions,
    };
  });
  const started = await finding(clock, names.starts, tinyVm, signal, async () => {
    const { type, state } = await startTinyDomain(libvirt, { kernelPath: settings.kernelPath, random }, signal);
    return {
      isPassed: state === 'running',
      observed: `a VM of type ${type} was ${state} and was destroyed`,
      value: null,
    };
  });
  return { checks: [reached, version.check, started.check], versions: version.value };
}

const tinyVm = 'a tiny VM starts and is destroyed';
const expectedVersion = ({ minimumVersion }: LibvirtSettings): string => `libvirt ${minimumVersion} or newer`;

const skipped = (settings: LibvirtSettings): HostCheck[] =>
  [[names.version, expectedVersion(settings)] as const, [names.starts, tinyVm] as const].map(([name, expectation]) => ({
    name,
    outcome: 'skipped',
    expectation,
    observed: 'libvirt was not reached',
    code: null,
    durationMs: 0,
  }));

interface Found<Value> {
  isPassed: boolean;
  observed: string;
  value: Value;
}

/** Runs one check; its failure is what was observed. */
async function finding<Value>(
  clock: Clock,
  name: string,
  expectation: string,
  signal: AbortSignal,
  observe: () => Promise<Found<Value>>,
): Promise<{ check: HostCheck; value: Value | null }> {
  const startedMs = clock.monotonicMs();
  const check = (outcome: HostCheck['outcome'], observed: string, code: ErrorCode | null): HostCheck => ({
    name,
    outcome,
    expectation,
    observed,
    code,
    durationMs: Math.round(clock.monotonicMs() - startedMs),
  });
  try {
    const { isPassed, observed, value } = await observe();
    return { check: check(isPassed ? 'passed' : 'failed', observed, null), value };
  } catch (error) {
    signal.throwIfAborted();
    const code = failureCode(error);
    if (code === null) throw error;
    return { check: check('failed', (error as Error).message, code), value: null };
  }
}

interface VersionVerdict {
  isEnough: boolean;
  expectation: string;
  observed: string;
}

/**
 * Whether a daemon is new enough. Pure. A version that cannot be read is not.
 *
 * @param version as the daemon says it, `major.minor.release`
 * @param minimum likewise; parts that are missing count as 0
 */
export function judgeVersion(version: string, minimum: string): VersionVerdict {
  return {
    isEnough: isOlder(version, minimum) === false,
    expectation: `libvirt ${minimum} or newer`,
    observed: `libvirt ${version}`,
  };
}

interface TinyDomain {
  /** `kvm` where the host has it, else `qemu`. */
  type: string;
  /** What it was before it was destroyed. */
  state: DomainState;
}

/**
 * Starts a VM of its own name, observes it and destroys it. QEMU's driver destroys it with the connection. Others
 * cannot: there, what an earlier check left behind is destroyed first, and only what drover made.
 */
async function startTinyDomain(
  libvirt: LibvirtConnection,
  { kernelPath, random }: { kernelPath: string | null; random: Random },
  signal: AbortSignal,
): Promise<TinyDomain> {
  const autodestroy = libvirt.uri.startsWith('qemu:');
  if (!autodestroy) await removeLeftovers(libvirt, signal);
  const { domainTypes } = await libvirt.capabilities(signal);
  const type = domainType(libvirt.uri, domainTypes);
  const domain = await libvirt.createDomain(
    tinyDomainXml(newCheckName(random), type, kernelPath),
    { autodestroy },
    signal,
  );
  try {
    return { type, state: await libvirt.domainState(domain, signal) };
  } finally {
    // Also when the signal was aborted: nothing is left behind.
    await libvirt.removeDomain(domain, new AbortController().signal);
  }
}

async function removeLeftovers(libvirt: LibvirtConnection, signal: AbortSignal): Promise<void> {
  for (const domain of await libvirt.domains(signal)) if (isOwn(domain)) await libvirt.removeDomain(domain, signal);
}

/** Cloud Hypervisor is always KVM; libvirt's test driver only knows its own. Pure. */
export function domainType(uri: string, offered: readonly string[]): string {
  if (uri.startsWith('test:')) return 'test';
  return uri.startsWith('ch:') || offered.includes('kvm') ? 'kvm' : 'qemu';
}
