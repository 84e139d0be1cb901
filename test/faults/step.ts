/** An activity call, as a worker sees it. */
export interface Call {
  workflowId: string;
  runId: string;
  activityId: string;
  activity: string;
  /** 1 for the first. */
  attempt: number;
}

/**
 * Short names of what a scenario made, by the ids that differ from run to run: `eviction/fixture-2` → `A`,
 * `migration/<uuid>` → `A1`.
 */
export type Roles = ReadonlyMap<string, string>;

/**
 * Runs that no scenario names, such as the one that shares out the region's migrations; each look for drift is one
 * of its own.
 */
const otherRoles: readonly [RegExp, string][] = [
  [/^limits\//u, 'limits'],
  [/^hypervisor-drift\//u, 'drift'],
  // A round of a watch takes an hour: what began before the scenario has no step in it.
  [/^(vcenter|guest-watch)\//u, 'watch'],
  [/^content-library\//u, 'library'],
];

/** Of a run that belongs to no single object: it is cancelled and terminated itself. */
export const isOfOther = (step: string): boolean => otherRoles.some(([, role]) => step.startsWith(`${role}/`));

/** Workers begin watches when they start, which is within a scenario or before it. */
export const isOfWatch = (step: string): boolean => step.startsWith('watch/');

/**
 * Names calls so that they are found again in another run of the same scenario: `A/publishEviction.2` is the second
 * publication of host A's eviction, whichever run makes it. Attempts of one call share its name. Null: of a run that is
 * not the scenario's.
 */
export function nameSteps(roles: Roles): (call: Call) => string | null {
  const counts = new Map<string, number>();
  const names = new Map<string, string>();
  return ({ workflowId, runId, activityId, activity }) => {
    const role = roles.get(workflowId) ?? otherRoles.find(([pattern]) => pattern.test(workflowId))?.[1];
    if (role === undefined) return null;
    const call = `${runId}/${activityId}`;
    const known = names.get(call);
    if (known !== undefined) return known;
    const kind = `${role}/${activity}`;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const name = `${kind}.${count}`;
    names.set(call, name);
    return name;
  };
}

/** What is the same in every one of several runs of a scenario: the steps that can be targeted. */
export function commonSteps(runs: readonly (readonly string[])[]): string[] {
  const [first = [], ...others] = runs;
  return [...new Set(first)].filter((step) => others.every((run) => run.includes(step)));
}
