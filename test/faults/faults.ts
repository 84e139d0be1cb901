/** What the worker does with one attempt of a call. */
export type Order =
  | 'pass'
  /** Fail before anything is done. */
  | 'failBefore'
  /** Do it, then fail: the acknowledgement is lost. */
  | 'failAfter'
  /** Do nothing and say nothing, until Temporal gives the attempt up. */
  | 'hang'
  /** Do it, then ask again before the result is reported. */
  | 'holdAfter';

/** What is done to the scenario while the call is held. */
export type FaultAction =
  | 'none'
  | 'killWorker'
  | 'cancel'
  | 'terminate'
  | 'signalTwice'
  | 'changeSpec'
  | 'cancelMove'
  | 'terminateMove';

interface Fault {
  title: string;
  order: Order;
  action: FaultAction;
  mayStop: boolean;
}

/**
 * The faults of the every-step matrix. Each actions once, at the first attempt of one call.
 *
 * - `order`: what the worker does with that attempt;
 * - `action`: what happens while the attempt is held: before its effect with `pass`, between effect and
 *   report with `holdAfter`;
 * - `mayStop`: an orderly stop is an end that is as good as the scenario's own.
 */
export const faults = {
  failBefore: { title: 'fails before the effect', order: 'failBefore', action: 'none', mayStop: false },
  failAfter: { title: 'fails after the effect', order: 'failAfter', action: 'none', mayStop: false },
  timeOut: { title: 'times out', order: 'hang', action: 'none', mayStop: false },
  killWorker: {
    title: 'kill -9 of the worker between effect and report',
    order: 'holdAfter',
    action: 'killWorker',
    mayStop: false,
  },
  cancel: { title: 'the run is cancelled', order: 'pass', action: 'cancel', mayStop: true },
  terminate: {
    title: 'the run is terminated and started again at once',
    order: 'pass',
    action: 'terminate',
    mayStop: false,
  },
  signalTwice: { title: 'the signal comes twice', order: 'pass', action: 'signalTwice', mayStop: false },
  changeSpec: { title: 'the spec changes', order: 'pass', action: 'changeSpec', mayStop: false },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];

/**
 * Those of the run that moves one server, at its own steps; what ends the run of its object is among the others. Only in
 * the simulator.
 */
export const moveFaults = {
  cancelMove: { title: 'the run of the server is cancelled', order: 'pass', action: 'cancelMove', mayStop: false },
  terminateMove: {
    title: 'the run of the server is terminated',
    order: 'pass',
    action: 'terminateMove',
    mayStop: false,
  },
} as const satisfies Record<string, Fault>;

export type AnyFaultName = FaultName | keyof typeof moveFaults;
export const moveFaultNames = Object.keys(moveFaults) as (keyof typeof moveFaults)[];

export const faultOf = (name: AnyFaultName): Fault => ({ ...faults, ...moveFaults })[name];
