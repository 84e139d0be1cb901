import { readFileSync } from 'node:fs';
import type { CsiDriverHandle, CsiHandle } from './handle.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/** What sidecars call, as CSI names it; and what the driver of Ceph does by itself. */
export type CsiMethod =
  | 'CreateVolume'
  | 'DeleteVolume'
  | 'CreateSnapshot'
  | 'DeleteSnapshot'
  | 'ControllerExpandVolume'
  | 'ListVolumes'
  | 'ListSnapshots'
  | 'Flatten';

/** As gRPC names it in Go. */
export type CsiCode =
  | 'OK'
  | 'InvalidArgument'
  | 'NotFound'
  | 'AlreadyExists'
  | 'ResourceExhausted'
  | 'FailedPrecondition'
  | 'Aborted'
  | 'OutOfRange'
  | 'Internal'
  | 'Unavailable'
  | 'DeadlineExceeded';

/** What becomes of the next calls of a method. */
export interface CsiFault {
  readonly method: CsiMethod;
  /** Of the answer. Default: OK, so that the delay is all. */
  readonly code?: CsiCode;
  readonly message?: string;
  /** Its effect is there, and the caller is not told. */
  readonly after?: boolean;
  readonly delayMs?: number;
  /** Of how many calls; default one. */
  readonly count?: number;
}

/** Answers so far, by method and code. */
export type CsiCalls = Partial<Record<CsiMethod, Partial<Record<CsiCode, number>>>>;

/** The control port of a driver. All changes are in effect when the promise resolves. */
export interface CsiControl {
  /** For the next calls; of several faults of a method, one after the other. */
  inject(fault: CsiFault): Promise<void>;
  /** Takes back what did not come yet. */
  clearFaults(): Promise<void>;
  calls(): Promise<CsiCalls>;
  /** Answers to that method so far, whatever their code. */
  count(method: CsiMethod): Promise<number>;
  clearCalls(): Promise<void>;
  /** Calls that were not answered yet. */
  running(method: CsiMethod): Promise<number>;
}

/** Of a driver, which is that of directories unless another one is named. */
export function csiControl(
  { controlTokenFile, directories }: Pick<CsiHandle, 'controlTokenFile' | 'directories'>,
  { controlUrl }: Pick<CsiDriverHandle, 'controlUrl'> = directories,
): CsiControl {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${controlUrl}/${path}`, {
      method,
      headers: { 'X-Lab-Token': readFileSync(controlTokenFile, 'utf8') },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`control port: ${method} /${path}: ${await response.text()}`);
    return response.json();
  };
  const calls = async () => (await call('GET', 'calls')) as CsiCalls;
  return {
    inject: async (fault) => void (await call('POST', 'faults', fault)),
    clearFaults: async () => void (await call('DELETE', 'faults')),
    calls,
    count: async (method) => Object.values((await calls())[method] ?? {}).reduce((sum, number) => sum + number, 0),
    clearCalls: async () => void (await call('DELETE', 'calls')),
    running: async (method) => ((await call('GET', 'running')) as Partial<Record<CsiMethod, number>>)[method] ?? 0,
  };
}
