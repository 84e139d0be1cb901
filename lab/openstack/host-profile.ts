/**
 * How a guest leaves its host. Live migrations:
 * - `ok`: completed after `seconds`;
 * - `hang`: stays `running` and nothing moves, until abort or force_complete;
 * - `slow`: stays `running`, remaining bytes go up and down, until abort or force_complete;
 * - `fail`: after `seconds` the migration is `failed`, the server ACTIVE on its source;
 * - `error`: after `seconds` the migration is `error`, and the server too;
 * - `prefail`: the target cannot prepare; the migration is `failed`, the server ACTIVE on its source;
 * - `precheck-dest`, `precheck-source`: accepted with 202, then refused in the pre-check; the migration is `error`, the
 *   server ACTIVE on its source.
 *
 * Cold migrations: `fail` ends the migration in `error` and leaves the server as it was, `error` takes the server
 * along, `hang` and `slow` wait until a test changes the behaviour, the others copy for `seconds`.
 */
export type MigrateMode = 'ok' | 'hang' | 'slow' | 'fail' | 'error' | 'prefail' | 'precheck-dest' | 'precheck-source';

/** A host's size and behaviour. Defaults stand in `controlplane/fleet.py`. */
export interface HostProfile {
  readonly vcpus: number;
  readonly memoryMiB: number;
  readonly diskGiB: number;
  /** More inventory for Placement, e.g. `{ VGPU: 4 }`. */
  readonly inventory: Readonly<Record<string, number>>;
  readonly traits: readonly string[];
  /** As in `hypervisor_version`: 9002000 is 9.2.0. Nova refuses a live migration to an older one. */
  readonly hypervisorVersion: number;
  readonly migrate: MigrateMode;
  readonly seconds: number;
  /** False: refuses every live migration towards it, in the pre-check. */
  readonly accept: boolean;
  /** Nova's option of that name; migrations above it stay `queued`. */
  readonly maxConcurrentLiveMigrations: number;
  /** Between the scheduler's choice and the claim: what arrives late on a host that was disabled meanwhile. */
  readonly buildDelaySeconds: number;
  /** How long a guest stays `deleting`. */
  readonly destroySeconds: number;
}

export interface HostState extends HostProfile {
  readonly hypervisorHostname: string;
  /** Whether its nova-compute runs. */
  readonly running: boolean;
  /** Guests in the machine's memory, whatever Nova thinks. */
  readonly guests: number;
}

/** The profile of each host of a new lab, by the host's name; what is not given is default. */
export type FleetPlan = Readonly<Record<string, Partial<HostProfile>>>;

/** Six hosts, `node-1` to `node-6`, of the default size. */
export const defaultFleet: FleetPlan = Object.fromEntries([1, 2, 3, 4, 5, 6].map((number) => [`node-${number}`, {}]));
