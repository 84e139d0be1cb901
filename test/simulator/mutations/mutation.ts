import type { NovaClient } from '../../../activities/nova/types.ts';
import type { ObservedAfter } from '../../../contracts/virtual-machine/activities.ts';
import type { ReconfigSpec } from '../../../contracts/virtual-machine/config.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { Schedule } from '../schedules/schedule.ts';

/** An activity, whatever it takes and gives. */
export type AnyActivity = (...args: never[]) => Promise<unknown>;

/** What an activity has that stands in the place of drover's own. */
export interface MutationTools {
  clock: Clock;
  /** @throws where the simulation has no OpenStack */
  openNova: () => NovaClient;
}

/** What stands in the place of an activity; null: its own code. */
export type Mutate = (activity: string, original: AnyActivity, tools: MutationTools) => AnyActivity | null;

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

/** The activity of that name is called with another request. */
export const asked =
  (name: string, change: (request: object) => object): Mutate =>
  (activity, original) =>
    activity === name
      ? (...args: never[]) => original(change(args[0] as unknown as object) as never, ...args.slice(1))
      : null;

/** The activity of that name does nothing, and gives this answer. */
export const skipped =
  (name: string, answer?: unknown): Mutate =>
  (activity) =>
    activity === name ? () => Promise.resolve(answer) : null;

/** The activity of that name does its work, and gives another answer. */
export const answered =
  (name: string, change: (answer: object) => object): Mutate =>
  (activity, original) =>
    activity === name ? async (...args: never[]) => change((await original(...args)) as object) : null;

/** What a policy names is not made, or not removed. */
export const policyChangeSkipped =
  (verb: 'make' | 'remove'): Mutate =>
  (activity, original) =>
    activity === 'changePolicyInVcenter'
      ? (request: { change: { kind: string } }) =>
          request.change.kind.startsWith(verb) ? Promise.resolve(null) : original(request as never)
      : null;

/** The size of a VM stays, and is shown as it was asked for. */
export const sizeUntrue: Mutate = (activity, original) =>
  activity === 'submitReconfigure'
    ? async (request: { spec: ReconfigSpec }) => {
        const { numCPUs, memoryMB, ...spec } = request.spec;
        const shown = (await original({ ...request, spec } as never)) as Partial<ObservedAfter> | null;
        const { config = null } = shown?.observation?.vm ?? {};
        if (config !== null)
          Object.assign(config, numCPUs !== undefined && { numCPUs }, memoryMB !== undefined && { memoryMB });
        return shown;
      }
    : null;

/** @param where names the code, for people. @throws where it does not stand there once: the source has changed */
export function rewritten(code: string, { from, to }: NonNullable<Mutation['rewrite']>, where: string): string {
  const found = code.match(new RegExp(from, 'gu'))?.length ?? 0;
  if (found !== 1) throw new Error(`${String(from)} is ${found} times in ${where}, instead of once`);
  return code.replace(from, to);
}
