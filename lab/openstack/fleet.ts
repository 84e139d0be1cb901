import { readFileSync } from 'node:fs';
import type { OpenStackHandle } from './handle.ts';
import type { HostProfile, HostState, MigrateMode } from './host-profile.ts';

const REQUEST_TIMEOUT_MS = 60_000;

/** How one attempt to move a guest goes; without `seconds`, the host's. */
export type Attempt = MigrateMode | { readonly migrate?: MigrateMode; readonly seconds?: number };

export interface GuestScript {
  readonly attempts: readonly Attempt[];
  /** Attempts that began since the script was set: migration records of Nova, live or cold. */
  readonly started: number;
}

/**
 * The levers that Nova's API does not have. All are in effect when the promise resolves, for migrations under way too.
 * Methods throw an Error with the control port's message when it refuses.
 */
export interface Fleet {
  /** All hosts, by name. */
  hosts(): Promise<Record<string, HostState>>;
  /** Changes a host's profile; a host that is not there yet is added and started. */
  change(host: string, patch: Partial<HostProfile>): Promise<HostState>;
  /** nova-compute dies without a farewell; its guests run on. Down after about 12 s, or at once with forced_down. */
  crash(host: string): Promise<HostState>;
  /** nova-compute comes back, its guests still there. */
  start(host: string): Promise<HostState>;
  /** nova-compute comes back on an empty machine. */
  reinstall(host: string): Promise<HostState>;
  guest(instanceId: string): Promise<GuestScript>;
  /** How the guest's next attempts go; the last entry also holds for all after it. Wins over metadata and host. */
  script(instanceId: string, attempts: readonly Attempt[]): Promise<GuestScript>;
  /** Profiles as in a new lab, no scripts, every nova-compute running. Servers stay. */
  reset(): Promise<void>;
  /** Takes deleted servers and all that belongs to them out of Nova's tables. Returns how many rows that were. */
  archive(): Promise<{ rows: number }>;
}

export function connectFleet(handle: Pick<OpenStackHandle, 'controlUrl' | 'controlTokenFile'>): Fleet {
  const token = readFileSync(handle.controlTokenFile, 'utf8');

  async function call<Answer>(method: string, path: readonly string[], body?: unknown): Promise<Answer> {
    const response = await fetch(`${handle.controlUrl}/${path.map(encodeURIComponent).join('/')}`, {
      method,
      headers: { 'X-Lab-Token': token, 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const answer = (await response.json()) as Answer & { error?: string };
    if (!response.ok) throw new Error(`${method} /${path.join('/')}: ${answer.error ?? response.statusText}`);
    return answer;
  }

  return {
    hosts: () => call('GET', ['fleet']),
    change: (host, patch) => call('PUT', ['fleet', host], patch),
    crash: (host) => call('POST', ['fleet', host, 'crash']),
    start: (host) => call('POST', ['fleet', host, 'start']),
    reinstall: (host) => call('POST', ['fleet', host, 'reinstall']),
    guest: (instanceId) => call('GET', ['guests', instanceId]),
    script: (instanceId, attempts) => call('PUT', ['guests', instanceId], { attempts }),
    reset: async () => void (await call('POST', ['reset'])),
    archive: () => call('POST', ['archive']),
  };
}
