import type { VirtualClock } from '../clock.ts';

/** A CSI driver in memory, as its sidecars see it: calls of a name are idempotent, take time, and may be refused. */

export type CsiMethod =
  | 'CreateVolume'
  | 'DeleteVolume'
  | 'CreateSnapshot'
  | 'DeleteSnapshot'
  | 'ControllerExpandVolume';

/** Of gRPC. */
export type CsiCode =
  | 'Aborted'
  | 'DeadlineExceeded'
  | 'FailedPrecondition'
  | 'Internal'
  | 'InvalidArgument'
  | 'NotFound'
  | 'OutOfRange'
  | 'ResourceExhausted'
  | 'Unavailable';

/** The sentence is that of gRPC's client. */
export class CsiError extends Error {
  readonly code: CsiCode;

  constructor(code: CsiCode, description: string) {
    super(`rpc error: code = ${code} desc = ${description}`);
    this.code = code;
  }
}

/**
 * Whether what was asked may still be under way. Source: `checkError` of csi-provisioner,
 * `isCSIFinalError` of csi-snapshotter.
 */
export const isFinal = (error: unknown): boolean =>
  error instanceof CsiError &&
  !['Aborted', 'DeadlineExceeded', 'ResourceExhausted', 'Unavailable'].includes(error.code);

export interface CsiVolume {
  readonly id: string;
  readonly name: string;
  /** What is written on it. */
  content: string;
  capacityBytes: number;
  readonly isBlock: boolean;
  /** Clones between it and a volume that is none. */
  depth: number;
}

export interface CsiSnapshot {
  readonly id: string;
  readonly name: string;
  readonly volumeId: string;
  readonly content: string;
  readonly sizeBytes: number;
  readonly isBlock: boolean;
  readonly depth: number;
  readonly cutMs: number;
  readonly readyMs: number;
}

export interface CsiDriverOptions {
  /** As in `spec.provisioner` of its StorageClasses. */
  name: string;
  /** Of each call, at most. Default 50. */
  latencyMs?: number;
  /** From the cut of a snapshot until it is ready to use. Default 0. */
  readyAfterMs?: number;
  /** Whether the file system is expanded on a node. Default: no. */
  expandsOnNode?: boolean;
  /** Whether snapshots say how large they are. Default: they do. */
  saysRestoreSize?: boolean;
  /** A clone deeper than that waits until its source is flattened, for so long. Default: none does. */
  flatten?: { hardDepth: number; ms: number };
  /** More than that of a volume are refused with ResourceExhausted. Default: no limit. */
  snapshotsPerVolume?: number;
}

export interface CsiFault {
  code: CsiCode;
  /** Default 1. */
  times?: number;
  description?: string;
  /** It happens all the same: only the answer is lost. */
  afterEffect?: boolean;
}

export type VolumeSource = { kind: 'volume' | 'snapshot'; id: string };

export interface CsiDriver {
  readonly options: Required<Omit<CsiDriverOptions, 'flatten' | 'snapshotsPerVolume'>> & CsiDriverOptions;
  createVolume(request: {
    name: string;
    requiredBytes: number;
    isBlock: boolean;
    source: VolumeSource | null;
  }): Promise<CsiVolume>;
  deleteVolume(id: string): Promise<void>;
  createSnapshot(request: { name: string; volumeId: string }): Promise<CsiSnapshot>;
  deleteSnapshot(id: string): Promise<void>;
  expandVolume(id: string, requiredBytes: number): Promise<CsiVolume>;

  readonly volumes: readonly CsiVolume[];
  readonly snapshots: readonly CsiSnapshot[];
  /** Ids of volumes that were deleted, with what was on them. */
  readonly deleted: readonly { id: string; name: string; content: string; atMs: number }[];
  /** How many calls there were, refused ones included. */
  calls(method: CsiMethod): number;
  /** The next calls of the method fail. */
  fail(method: CsiMethod, fault: CsiFault): void;
  /** The next calls of the method take so long. */
  delay(method: CsiMethod, ms: number, times?: number): void;
  /** Neither faults nor delays are left. */
  heal(): void;
  /** As a machine that has the volume mounted. */
  write(id: string, content: string): void;
  read(id: string): string;
  /** What was on the volume, and from when on; of one that is deleted too. */
  history(id: string): readonly { fromMs: number; content: string }[];
}

export function createCsiDriver(
  { clock, random }: { clock: VirtualClock; random: () => number },
  given: CsiDriverOptions,
): CsiDriver {
  const options = { latencyMs: 50, readyAfterMs: 0, expandsOnNode: false, saysRestoreSize: true, ...given };
  const volumes = new Map<string, CsiVolume>();
  const snapshots = new Map<string, CsiSnapshot>();
  const deleted: { id: string; name: string; content: string; atMs: number }[] = [];
  const counts = new Map<CsiMethod, number>();
  const written = new Map<string, { fromMs: number; content: string }[]>();
  let faults: (Required<CsiFault> & { method: CsiMethod })[] = [];
  let delays: { method: CsiMethod; ms: number; times: number }[] = [];
  /** When a volume that others are cloned from is flat. */
  const flatFromMs = new Map<string, number>();

  const next = <Planned extends { method: CsiMethod; times: number }>(
    planned: readonly Planned[],
    method: CsiMethod,
  ): Planned | undefined => {
    const found = planned.find((one) => one.method === method && one.times > 0);
    if (found !== undefined) found.times -= 1;
    return found;
  };

  /** One call on the wire. */
  async function call<Answer>(method: CsiMethod, effect: () => Answer): Promise<Answer> {
    counts.set(method, (counts.get(method) ?? 0) + 1);
    const fault = next(faults, method);
    await clock.sleep(random() * options.latencyMs + (next(delays, method)?.ms ?? 0));
    if (fault !== undefined && !fault.afterEffect) throw new CsiError(fault.code, fault.description);
    const answer = effect();
    if (fault !== undefined) throw new CsiError(fault.code, fault.description);
    return answer;
  }

  const volumeOf = (id: string): CsiVolume => {
    const found = volumes.get(id);
    if (found === undefined) throw new CsiError('NotFound', `volume ${id} does not exist`);
    return found;
  };
  const named = <One extends { name: string }>(all: Iterable<One>, name: string): One | undefined =>
    [...all].find((one) => one.name === name);

  const record = (id: string, content: string): void =>
    void written.set(id, [...(written.get(id) ?? []), { fromMs: clock.nowMs, content }]);

  /** @throws CsiError Aborted while the source of a clone is too deep */
  const checkDepth = (key: string, depth: number): number => {
    if (options.flatten === undefined || depth <= options.flatten.hardDepth) return depth;
    const fromMs = flatFromMs.get(key) ?? clock.nowMs + options.flatten.ms;
    flatFromMs.set(key, fromMs);
    if (clock.nowMs >= fromMs) return 1;
    throw new CsiError('Aborted', `flatten of ${key} is in progress`);
  };

  const contentOf = (source: VolumeSource | null): Pick<CsiVolume, 'content' | 'depth'> & { bytes: number } => {
    if (source === null) return { content: '', depth: 0, bytes: 0 };
    if (source.kind === 'volume') {
      const { content, depth, capacityBytes } = volumeOf(source.id);
      return { content, depth: checkDepth(source.id, depth + 1), bytes: capacityBytes };
    }
    const snapshot = snapshots.get(source.id);
    if (snapshot === undefined) throw new CsiError('NotFound', `snapshot ${source.id} does not exist`);
    return {
      content: snapshot.content,
      depth: checkDepth(snapshot.volumeId, snapshot.depth + 1),
      bytes: snapshot.sizeBytes,
    };
  };

  return {
    options,
    createVolume: ({ name, requiredBytes, isBlock, source }) =>
      call('CreateVolume', () => {
        const there = named(volumes.values(), name);
        if (there !== undefined) return there;
        const { content, depth, bytes } = contentOf(source);
        if (requiredBytes < bytes)
          throw new CsiError('OutOfRange', `${requiredBytes} bytes are less than the ${bytes} of the source`);
        const volume = { id: `vol-${name}`, name, content, capacityBytes: requiredBytes, isBlock, depth };
        volumes.set(volume.id, volume);
        record(volume.id, content);
        return volume;
      }),
    deleteVolume: (id) =>
      call('DeleteVolume', () => {
        const there = volumes.get(id);
        if (there === undefined) return;
        volumes.delete(id);
        deleted.push({ id, name: there.name, content: there.content, atMs: clock.nowMs });
      }),
    createSnapshot: ({ name, volumeId }) =>
      call('CreateSnapshot', () => {
        const there = named(snapshots.values(), name);
        if (there !== undefined) return there;
        const { content, capacityBytes, isBlock, depth } = volumeOf(volumeId);
        const count = [...snapshots.values()].filter((one) => one.volumeId === volumeId).length;
        if (count >= (options.snapshotsPerVolume ?? Infinity))
          throw new CsiError('ResourceExhausted', `volume ${volumeId} has ${count} snapshots`);
        const cutMs = clock.nowMs;
        const of = { volumeId, content, sizeBytes: capacityBytes, isBlock, depth };
        const snapshot = { id: `snap-${name}`, name, ...of, cutMs, readyMs: cutMs + options.readyAfterMs };
        snapshots.set(snapshot.id, snapshot);
        return snapshot;
      }),
    deleteSnapshot: (id) => call('DeleteSnapshot', () => void snapshots.delete(id)),
    expandVolume: (id, requiredBytes) =>
      call('ControllerExpandVolume', () => {
        const volume = volumeOf(id);
        volume.capacityBytes = Math.max(volume.capacityBytes, requiredBytes);
        return volume;
      }),

    get volumes() {
      return [...volumes.values()];
    },
    get snapshots() {
      return [...snapshots.values()];
    },
    deleted,
    calls: (method) => counts.get(method) ?? 0,
    fail: (method, { code, times = 1, description = 'injected', afterEffect = false }) =>
      void faults.push({ method, code, times, description, afterEffect }),
    delay: (method, ms, times = 1) => void delays.push({ method, ms, times }),
    heal() {
      faults = [];
      delays = [];
    },
    write(id, content) {
      volumeOf(id).content = content;
      record(id, content);
    },
    read: (id) => volumeOf(id).content,
    history: (id) => written.get(id) ?? [],
  };
}
