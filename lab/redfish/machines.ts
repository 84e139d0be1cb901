import { readFileSync } from 'node:fs';
import type { RedfishHandle } from './handle.ts';

const REQUEST_TIMEOUT_MS = 10_000;

/**
 * What becomes of requests for power: taken and done, taken and not done, answered with 409, or done and undone by
 * something else.
 */
export type PowerBehaviour = 'obeys' | 'deaf' | 'refuses' | 'returns';

export interface MachineState {
  readonly uuid: string;
  readonly power: 'On' | 'Off';
  readonly behaviour: PowerBehaviour;
  /** Until a request is done. */
  readonly delaySeconds: number;
  /** Until one that `returns` is on again. */
  readonly returnsAfterSeconds: number;
  /** The ResetTypes that were asked for, in order. */
  readonly resets: readonly string[];
  /**
   * Each time that it went on or off, in order; at first it is on. Milliseconds since the epoch, when it
   * was first noticed.
   */
  readonly powered: readonly PowerChange[];
}

export interface PowerChange {
  readonly power: 'On' | 'Off';
  readonly atMs: number;
}

/** What stands behind the BMC. All changes are in effect when the promise resolves. */
export interface Machines {
  /** By name. */
  all(): Promise<Record<string, MachineState>>;
  change(name: string, patch: Partial<Omit<MachineState, 'uuid' | 'powered'>>): Promise<MachineState>;
}

export function connectMachines(handle: Pick<RedfishHandle, 'controlUrl' | 'controlTokenFile'>): Machines {
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${handle.controlUrl}/${path}`, {
      method,
      headers: { 'X-Lab-Token': readFileSync(handle.controlTokenFile, 'utf8') },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`control port: ${method} /${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    all: async () =>
      Object.fromEntries(
        Object.entries((await call('GET', 'machines')) as Record<string, WireMachine>).map(([name, machine]) => [
          name,
          toState(machine),
        ]),
      ),
    change: async (name, { delaySeconds, returnsAfterSeconds, ...rest }) => {
      const patch = {
        ...rest,
        ...(delaySeconds === undefined ? {} : { delay: delaySeconds }),
        ...(returnsAfterSeconds === undefined ? {} : { returns_after: returnsAfterSeconds }),
      };
      return toState((await call('PUT', `machines/${encodeURIComponent(name)}`, patch)) as WireMachine);
    },
  };
}

interface WireMachine extends Pick<MachineState, 'uuid' | 'power' | 'behaviour' | 'resets'> {
  delay: number;
  returns_after: number;
  /** Time: seconds since the epoch. */
  powered: ['On' | 'Off', number][];
}

const toState = ({ delay, returns_after, powered, ...rest }: WireMachine): MachineState => ({
  ...rest,
  powered: powered.map(([power, seconds]) => ({ power, atMs: seconds * 1_000 })),
  delaySeconds: delay,
  returnsAfterSeconds: returns_after,
});
