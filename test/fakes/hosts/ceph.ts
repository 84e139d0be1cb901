import type {
  DashboardAnswer,
  DashboardHttp,
  DashboardHttpOptions,
  DashboardRequest,
} from '../../../activities/ceph/http.ts';
import type { CephHealthCheck, CephPool } from '../../../activities/ceph/types.ts';
import { transportFailure, type HttpTimeouts } from '../../../activities/lib/http.ts';
import { droverFailure } from '../../../runtime/failure.ts';
import { observed } from '../../../runtime/telemetry/outside-calls.ts';
import type { VirtualClock } from '../../simulator/clock.ts';
import type { Network } from '../../simulator/network.ts';
import { createService, type Service } from '../service.ts';
import { within } from '../within.ts';
import { LibvirtRefused } from './libvirt-refusal.ts';
import type { RbdRequest } from './libvirt-storage.ts';

/** Of a user of the dashboard: whether it may read pools. */
export type DashboardRole = 'administrator' | 'read-only' | 'rgw-manager';

/** A Ceph cluster: what its dashboard says of it, and what clients of its block devices get. */
export interface CephCluster {
  /** Its managers by the base URL of their dashboards; the first is the active one. */
  managers: ReadonlyMap<string, Service>;
  monitors: Service;
  osd: Service;
  /** Where clients of block devices connect to. */
  monitor: { host: string; port: number };
  /** Says that something is wrong, as `ceph health detail` does; of each type there is one check. */
  report: (check: Pick<CephHealthCheck, 'type' | 'severity' | 'message'>) => void;
  mute: (type: string) => void;
  /** The only OSD goes: what clients read hangs, and the cluster says so. */
  stopOsd: () => void;
  startOsd: () => void;
  /** What was reported is well again. */
  clear: (type: string) => void;
  /** All that is reported, muted or not. */
  readonly checks: readonly CephHealthCheck[];
  readonly status: 'HEALTH_OK' | 'HEALTH_WARN' | 'HEALTH_ERR';
  pools: Map<string, { applications: string[]; images: string[] }>;
  users: Map<string, { password: string; role: DashboardRole }>;
  /** Clients of block devices, without `client.`, with their keys in base64. Empty: the cluster asks for none. */
  clients: Map<string, string>;
  /** How long the tokens of coming logins are good. */
  tokenLifetimeMs: number;
}

/** What a hypervisor of the lab has of Ceph. */
export interface CephOptions {
  managers?: readonly string[];
  monitor?: CephCluster['monitor'];
  pools?: readonly CephPool[];
}

/** Who may open the dashboard at first. */
export const cephLogin = { user: 'drover', password: 'the-ceph-password' } as const;

export function createCephCluster({
  managers = ['https://mgr-1.example:8443'],
  monitor = { host: '10.0.9.1', port: 6_789 },
  pools = [{ name: 'vms', applications: ['rbd'] }],
}: CephOptions = {}): CephCluster {
  const checks = new Map<string, CephHealthCheck>();
  const osd = createService();
  const report: CephCluster['report'] = ({ type, severity, message }) =>
    void checks.set(type, { type, severity, message, details: [], muted: false });
  return {
    managers: new Map(managers.map((base) => [base, createService()])),
    monitors: createService(),
    osd,
    monitor,
    report,
    stopOsd() {
      osd.kill();
      for (const [type, message] of osdDown) report({ type, severity: 'HEALTH_WARN', message });
    },
    startOsd() {
      osd.start();
      for (const [type] of osdDown) checks.delete(type);
    },
    mute(type) {
      const check = checks.get(type);
      if (check === undefined) throw new Error(`Ceph reports no ${type}`);
      check.muted = true;
    },
    clear: (type) => void checks.delete(type),
    get checks() {
      return [...checks.values()];
    },
    get status() {
      const severities = [...checks.values()].filter(({ muted }) => !muted).map(({ severity }) => severity);
      return severities.includes('HEALTH_ERR') ? 'HEALTH_ERR' : severities.length > 0 ? 'HEALTH_WARN' : 'HEALTH_OK';
    },
    pools: new Map(pools.map(({ name, applications }) => [name, { applications: [...applications], images: [] }])),
    users: new Map([[cephLogin.user, { password: cephLogin.password, role: 'administrator' }]]),
    clients: new Map(),
    tokenLifetimeMs: 28_800_000,
  };
}

/** What a cluster of one host and one OSD reports without it. */
const osdDown = [
  ['OSD_DOWN', '1 osds down'],
  ['OSD_HOST_DOWN', '1 host (1 osds) down'],
  ['OSD_ROOT_DOWN', '1 root (1 osds) down'],
] as const;

/** As the real client has them. */
const defaultTimeouts: HttpTimeouts = { connectMs: 3_000, headersMs: 6_000, bodyMs: 6_000 };

/** How the real client reaches the cluster's dashboards. */
export function createFakeDashboardHttp(
  { clock, network }: { clock: VirtualClock; network: Network },
  cluster: CephCluster,
  { observe, ...options }: Pick<DashboardHttpOptions, 'timeouts' | 'observe'>,
): DashboardHttp {
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const closed = new AbortController();

  const send = (request: DashboardRequest, signal: AbortSignal): Promise<DashboardAnswer> => {
    const { method, base, path } = request;
    const fault = (code: string): Error => {
      const { words } = transportFailure(Object.assign(new Error(code), { code }), timeouts);
      return droverFailure('CephUnavailable', `the Ceph dashboard ${base}: ${words} (${method} ${path})`);
    };
    const effect = async (): Promise<DashboardAnswer> => {
      const manager = cluster.managers.get(base);
      if (manager === undefined) throw fault('ENOTFOUND');
      if (manager.state === 'down') throw fault('ECONNREFUSED');
      await manager.serving(() => fault('ECONNRESET'));
      return answerOf(cluster, request, clock.now());
    };
    return within(
      clock,
      timeouts.headersMs,
      () => fault('UND_ERR_HEADERS_TIMEOUT'),
      AbortSignal.any([signal, closed.signal]),
      (bounded) =>
        network.call({ system: 'ceph', verb: `${method} ${path}` }, effect, bounded, () => fault('UND_ERR_SOCKET')),
    );
  };
  return {
    send: (request, signal) =>
      observed(observe, { system: 'ceph', verb: `${request.method} ${request.path}` }, signal, () =>
        send(request, signal),
      ),
    close: () => Promise.resolve(closed.abort(new Error('the client was closed'))),
  };
}

const answer = (status: number, body: unknown, location = ''): DashboardAnswer => ({
  status,
  text: JSON.stringify(body),
  requestId: '',
  location,
});

function answerOf(
  cluster: CephCluster,
  { method, base, path, token, body }: DashboardRequest,
  nowMs: number,
): DashboardAnswer {
  const [active] = [...cluster.managers].find(([, { state }]) => state !== 'down') ?? [];
  if (base !== active) return answer(303, {}, `${active ?? ''}/`);
  if (method === 'POST' && path === '/api/auth')
    return logIn(cluster, body as { username: string; password: string }, nowMs);
  const role = roleOf(cluster, token ?? '', nowMs);
  if (role === null) return answer(401, { detail: 'You are not authorized to access that resource' });
  if (path === '/api/health/minimal') return answer(200, healthOf(cluster));
  if (path === '/api/pool') {
    if (role === 'rgw-manager')
      return answer(403, { detail: "Access denied: You don't have permission to read pools" });
    return answer(
      200,
      [...cluster.pools].map(([name, { applications }]) => ({ pool_name: name, application_metadata: applications })),
    );
  }
  return answer(404, { detail: `The path '${path}' was not found.` });
}

function logIn(
  cluster: CephCluster,
  { username, password }: { username: string; password: string },
  nowMs: number,
): DashboardAnswer {
  const user = cluster.users.get(username);
  if (user === undefined || user.password !== password)
    return answer(400, { detail: 'Invalid credentials', code: 'invalid_credentials', component: 'auth' });
  // Only for the fake to read, as the real one's are for the real one.
  return answer(201, {
    token: JSON.stringify({ username, untilMs: nowMs + cluster.tokenLifetimeMs }),
    username,
    permissions: {},
    pwdExpirationDate: null,
    sso: false,
    pwdUpdateRequired: false,
  });
}

function roleOf({ users }: CephCluster, token: string, nowMs: number): DashboardRole | null {
  if (token === '') return null;
  const { username, untilMs } = JSON.parse(token) as { username: string; untilMs: number };
  return nowMs < untilMs ? (users.get(username)?.role ?? null) : null;
}

const healthOf = ({ status, checks }: CephCluster): object => ({
  health: {
    status,
    checks: checks.map(({ type, severity, message, details, muted }) => ({
      severity,
      summary: { message, count: 1 },
      detail: details.map((text) => ({ message: text })),
      muted,
      type,
    })),
    mutes: checks.filter(({ muted }) => muted).map(({ type }) => ({ code: type, sticky: false })),
  },
});

/** As long as librados tries, as libvirt has it: for a monitor, and for an answer of the OSDs. */
const radosTimeoutMs = 30_000;

/** What libvirt gets when it lists the images of a pool. @throws LibvirtRefused */
export async function listImages(
  cluster: CephCluster | null,
  clock: VirtualClock,
  { cephPool, monitors, login }: RbdRequest,
): Promise<readonly string[]> {
  const isFound =
    cluster !== null &&
    cluster.monitors.state === 'up' &&
    monitors.some(({ host, port }) => host === cluster.monitor.host && port === cluster.monitor.port);
  const isAllowed = cluster?.clients.size === 0 || (login !== null && cluster?.clients.get(login.user) === login.key);
  // librados does not report a refusal: it goes on trying.
  if (!isFound || !isAllowed) {
    await clock.sleep(radosTimeoutMs);
    throw new LibvirtRefused(
      'system',
      `failed to connect to the RADOS monitor on: ${monitors.map(({ host, port }) => `${host}:${port},`).join('')}: Success`,
    );
  }
  const pool = cluster.pools.get(cephPool);
  if (pool === undefined)
    throw new LibvirtRefused(
      'system',
      `failed to create the RBD IoCTX. Does the pool '${cephPool}' exist?: No such file or directory`,
    );
  if (cluster.osd.state !== 'up') {
    await clock.sleep(radosTimeoutMs);
    throw new LibvirtRefused('system', 'Unable to list RBD images: No such file or directory');
  }
  return [...pool.images];
}
