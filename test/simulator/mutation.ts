import type { Schedule } from './schedules/schedule.ts';

/** An activity, whatever it takes and gives. */
export type AnyActivity = (...args: never[]) => Promise<unknown>;

/** What stands in the place of an activity; null: its own code. */
export type Mutate = (activity: string, original: AnyActivity) => AnyActivity | null;

/** A verb or a rule of drover that is broken on purpose: the cell or the schedule that is named has to notice. */
export interface Mutation {
  name: string;
  /** The rule that it breaks. */
  breaks: string;
  /** A cell as `npm run simulate -- --cell` takes it; a scenario alone: without a fault; or a schedule. */
  caughtBy: string | Schedule;
  /** What the complaint has to say. Default: whatever it is. */
  says?: RegExp;
  /** Breaks activities. */
  mutate?: Mutate;
  /** Breaks workflow code, as it stands in the bundle: what matches stands there once. */
  rewrite?: { from: RegExp; to: string };
}
