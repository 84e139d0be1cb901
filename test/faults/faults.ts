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
export type Strike = 'none' | 'killWorker' | 'cancel' | 'terminate' | 'signalTwice' | 'changeSpec';

/**
 * The faults of the every-step matrix. Each strikes once, at the first attempt of one call.
 *
 * - `order`: what the worker does with that attempt;
 * - `strike`: what happens while the attempt is held: before its effect with `pass`, between effect and report with `holdAfter`;
 * - `mayStop`: an orderly stop is an end that is as good as the scenario's own.
 */
export const faults = {
  failBefore: { title: 'fails before the effect', order: 'failBefore', strike: 'none', mayStop: false },
  failAfter: { title: 'fails after the effect', order: 'failAfter', strike: 'none', mayStop: false },
  timeOut: { title: 'times out', order: 'hang', strike: 'none', mayStop: false },
  killWorker: { title: 'kill -9 of the worker between effect and report', order: 'holdAfter', strike: 'killWorker', mayStop: false },
  cancel: { title: 'the run is cancelled', order: 'pass', strike: 'cancel', mayStop: true },
  terminate: { title: 'the run is terminated and started again at once', order: 'pass', strike: 'terminate', mayStop: false },
  signalTwice: { title: 'the signal comes twice', order: 'pass', strike: 'signalTwice', mayStop: false },
  changeSpec: { title: 'the spec changes', order: 'pass', strike: 'changeSpec', mayStop: false },
} as const satisfies Record<string, { title: string; order: Order; strike: Strike; mayStop: boolean }>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];
