/**
 * The contract of a lab part: one real counterpart (Temporal, Kubernetes, Nova …) that the lab builds, starts on
 * loopback, describes and stops. A part says *how*; keeping processes, ports, files and progress is the
 * lab's, through `LabContext`.
 */

export type PartName =
  | 'temporal'
  | 'tctl'
  | 'kubernetes'
  | 'openstack'
  | 'libvirt'
  | 'ovs'
  | 'ceph'
  | 'redfish'
  | 'vsphere'
  | 'isos'
  | 'csi';

/** Who a process is beyond its number: a pid is reused, a pid with its start time is not. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque, as the operating system reports it (Linux: boot id and /proc/<pid>/stat field 22). */
  readonly startTime: string;
}

/**
 * A process that keeps running after the lab command has ended. Kept as `<part dir>/processes/<name>.json`, mode 0600.
 */
export interface ProcessRecord extends ProcessIdentity {
  readonly name: string;
  /** Its place in the order in which the part's services were started first; they are stopped in the reverse order. */
  readonly rank: number;
  readonly command: string;
  readonly args: readonly string[];
  /** The variables it was given besides the lab's small base environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** How long a stop waits between SIGTERM and SIGKILL. */
  readonly stopTimeoutMs: number;
}

/** What `LabContext.spawn` needs to start a service and to know that it serves. */
export interface ServiceSpec {
  /** Unique in the part; also the name of its log file. A running process of that name is an error. */
  readonly name: string;
  /** Absolute path of the program. */
  readonly command: string;
  /** Never secrets: every local user can read process arguments. */
  readonly args: readonly string[];
  /**
   * Added to a small base environment (PATH, HOME, LANG, TMPDIR, USER); the caller's own variables are not passed on.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the part's directory. */
  readonly cwd?: string;
  /** Polled every 50 ms until true. A rejection counts as "not yet". */
  readonly ready: (signal: AbortSignal) => Promise<boolean>;
  /** Default 60 000. When it passes, or the process ends first, spawn stops it and throws with the end of its log. */
  readonly readyTimeoutMs?: number;
  /** Default 10 000. */
  readonly stopTimeoutMs?: number;
}

/** A command that ends by itself (a build, a migration of a database …). */
export interface CommandSpec {
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the caller's environment (builds need its proxy and cache settings). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to the command's standard input. */
  readonly input?: string;
  readonly timeoutMs: number;
  /** Where its output is appended as well; without it the output is only kept in memory. */
  readonly logFile?: string;
}

/** What a part may use of the lab. One context per part. */
export interface LabContext {
  readonly part: PartName;
  /** The part's own directory `<lab>/<part>`, mode 0700, made before `build`. Data and secrets live here. */
  readonly dir: string;
  /** `<lab>/bin`: what is linked here is on PATH for users of the exports of `lab status`. */
  readonly binDir: string;
  /** The top of the drover checkout. */
  readonly checkoutDir: string;
  /**
   * Shared by all labs of this user, outside the checkout; see `lab/cache.ts`. Write under a temporary name, then
   * rename, under `withLock`.
   */
  readonly cacheDir: string;
  /** Aborted when the person interrupts; `exec`, `spawn`, `step` and `withLock` honour it. */
  readonly signal: AbortSignal;

  /** What another part of this lab has handed out; undefined where that one is not up. */
  handleOf(part: PartName): object | undefined;
  /** One line for the person who waits, without the part's name (it is put in front). */
  report(line: string): void;
  /**
   * Runs something that may take long: prints a line every 15 s with the elapsed and the usual time, and one at the
   * end. Silent when it takes less than a second. `usually`, as it is shown: `'3 min on two idle cores'`.
   */
  step<Result>(title: string, usually: string, action: () => Promise<Result>, logFile?: string): Promise<Result>;
  /**
   * Free loopback ports by name, the same as the last time in this lab where they are still free. They lie outside the
   * range of outgoing connections and are reserved among all labs of this user until the part is stopped, so that a
   * killed service finds its port free again.
   */
  ports<Name extends string>(...names: readonly Name[]): Promise<Record<Name, number>>;
  /**
   * Runs a command to its end; resolves to its standard output, rejects with the end of its output on a non-zero exit.
   */
  exec(command: CommandSpec): Promise<string>;
  /** Starts a service detached from this process and waits until it is ready. Its log is `<dir>/log/<name>.log`. */
  spawn(service: ServiceSpec): Promise<ProcessRecord>;
  /** Puts a program into `binDir` under that name: a symbolic link to `target`, or a `#!/bin/sh` script (mode 0700). */
  publish(name: string, program: { target: string } | { script: string }): Promise<void>;
  /**
   * Runs `action` while no other process of this machine holds the lock of that name in `cacheDir`. Freed by the kernel
   * if its holder dies.
   */
  withLock<Result>(name: string, action: () => Promise<Result>): Promise<Result>;
}

/**
 * What a user or a script needs to use a part. Never secrets: name a file of mode 0600
 * instead (KUBECONFIG, OS_CLIENT_CONFIG_FILE).
 */
export interface Description {
  /** Label → URL, e.g. `{ 'Web UI': 'http://127.0.0.1:20123' }`. */
  readonly urls: Readonly<Record<string, string>>;
  /** Environment variables, e.g. `{ TEMPORAL_ADDRESS: '127.0.0.1:20122' }`. */
  readonly exports: Readonly<Record<string, string>>;
}

/**
 * One counterpart.
 *
 * `Handle` is a plain JSON object with everything a test or another process needs to use the part (addresses, paths of
 * files with credentials). The lab writes it to `<dir>/handle.json` (0600) after `start`; while that file is there and
 * every recorded process lives, the part is up and is attached to instead of started.
 * `Built` is what `build` found or made: paths of programs, a virtual environment. It need not be JSON.
 */
export interface Part<Handle extends object, Built = void> {
  readonly name: PartName;
  /** As it is shown: `'Temporal dev server'`. */
  readonly title: string;
  /** How long bringing it up usually takes on two idle cores: `{ cold: '3 min', warm: '1 s' }`. */
  readonly usually: { readonly cold: string; readonly warm: string };
  /** The parts that it uses: they come up first, where they are to come up too. */
  readonly after?: readonly PartName[];
  /** Makes sure that everything needed is in the cache. Idempotent; must be quick when nothing is missing. */
  build(context: LabContext): Promise<Built>;
  /**
   * Starts on the data that is in `context.dir` (empty the first time; what an earlier run left after that) and returns
   * when the counterpart serves. If it throws, the lab stops what it had spawned.
   */
  start(context: LabContext, built: Built): Promise<Handle>;
  /**
   * Called instead of `start` when the part is up already: brings what the checkout declares (CRDs, roles …)
   * up to date.
   */
  refresh?(context: LabContext, handle: Handle): Promise<void>;
  /**
   * Only for what stopping the recorded processes does not do. The lab stops those afterwards, last started first, and
   * removes the handle. `handle` is missing when the part never came up.
   */
  beforeStop?(context: LabContext, handle: Handle | undefined): Promise<void>;
  describe(handle: Handle): Description;
}
