import type { CallFate, NetworkCall } from '../network.ts';

export type System = NetworkCall['system'];

/** What becomes of the calls of a system for a while: of all of them, or of some. */
export interface Disruption {
  system: System;
  fate: CallFate;
  untilMs: number;
  /** 1: every call. */
  share: number;
}
export type Disruptions = Disruption[];

/** What becomes of a call now. @param random in [0, 1) */
export function fateOf(
  disruptions: Disruptions,
  { system }: NetworkCall,
  nowMs: number,
  random: () => number,
): CallFate {
  const found = disruptions.find((one) => one.system === system && one.untilMs > nowMs);
  return found !== undefined && random() < found.share ? found.fate : 'works';
}
