import { findCondition } from '../../../contracts/conditions.ts';
import { annotations } from '../../../contracts/ids.ts';
import { labClock } from '../../../lab/clock.ts';
import { changeService, findService } from '../../../lab/openstack/hosts.ts';
import { listMigrations } from '../../../lab/openstack/migrations.ts';
import { resourcePath } from '../../../runtime/kubernetes/resource-path.ts';
import type { ScenarioContext } from '../../faults/context.ts';
import { regionOf, sinks } from '../../faults/environment.ts';
import { evictionScenarioSettings } from '../../faults/scenarios.ts';
import { gone, type Scenario } from '../../faults/scenario.ts';
import { until } from '../../flows/until.ts';

/**
 * Evictions that wait for minutes: for a Nova that does not do what it was asked for, and for a deadline; and one
 * whose region has a single target.
 */

const minuteMs = 60_000;
/** Longer than three aborts take, and what leads to them. */
const patienceMs = 30 * minuteMs;
const common = { subject: 'Eviction', hosts: 1, ownRegion: true, settings: evictionScenarioSettings } as const;

/** What its run does up to the first move is the same in all. */
const ofServer = (step: string): boolean => step.startsWith('A1/');

const conditionOf = (context: ScenarioContext, type: string) =>
  findCondition(context.latestEviction('A')?.status?.conditions, type);
const isOver = (context: ScenarioContext): boolean => conditionOf(context, 'Evicting')?.status === 'False';
const says = (context: ScenarioContext, type = 'Evicting'): string => {
  const found = conditionOf(context, type);
  return `${found?.reason}: ${found?.message}`;
};
const isGone = async (context: ScenarioContext): Promise<boolean> => (await context.read('A')) === null;

const fleetOf = ({ fixture }: ScenarioContext) => regionOf(fixture.environment).fleet;

/** The migration of its server copies, or never will: the run was stopped before. */
async function untilCopying(context: ScenarioContext): Promise<void> {
  const { session } = regionOf(context.fixture.environment);
  const [id = ''] = context.expected.keys();
  await until('its migration to copy, or its eviction to be over', patienceMs, async () => {
    if (isOver(context) || (await isGone(context))) return true;
    const [record] = await listMigrations(session, id);
    return record?.status === 'running' || `${record?.status}; ${says(context)}`;
  });
}

/**
 * nova-compute dies while it copies: Nova goes on showing the migration as it was, and takes every
 * abort without effect.
 */
async function loseItsCompute(context: ScenarioContext): Promise<void> {
  await untilCopying(context);
  await fleetOf(context).crash(context.hostOf('A'));
}

const from = (minutes: number): string => new Date(labClock().now() + minutes * minuteMs).toISOString();
const terminating = (minutes: number): Record<string, string> => ({
  [annotations.cause]: 'termination',
  [annotations.deadline]: from(minutes),
});

/** Other users disable the hosts that servers could go to, all but one. */
async function leaveOneTarget({ fixture, hostOf, ownChanges }: ScenarioContext): Promise<void> {
  const { session, fleet } = regionOf(fixture.environment);
  for (const host of Object.keys(await fleet.hosts())) {
    if (host === hostOf('A') || host === sinks[0]) continue;
    const reason = 'a person';
    ownChanges.push({ host, atMs: labClock().now(), enabled: false, reason });
    await changeService(session, host, { status: 'disabled', disabled_reason: reason });
  }
}

export const evictionScenarios: readonly Scenario[] = [
  {
    ...common,
    name: 'unended',
    title:
      'a migration whose nova-compute has died is aborted in vain, three times, and its server is left to a person',
    targets: ofServer,
    prepare: (context) => context.seed('A', [{ migrate: 'slow' }]),
    start: (context) => context.evict('A'),
    async meanwhile(context) {
      await loseItsCompute(context);
      await until('its eviction to give up', patienceMs, () => isOver(context) || says(context));
      const said = says(context);
      const isNamed = /live-migration \d+ .* 3 aborts.*openstack server set --state active/u.test(said);
      // Of a server without a task, a record that has not been written for ten minutes counts as over.
      const isOverSince = /migration \d+ is over since; `drover retry` tries it again/u.test(said);
      if (!isNamed && !isOverSince && said.startsWith('Failed'))
        throw new Error(`it does not say which migration is left, and what to do: ${said}`);
      await fleetOf(context).start(context.hostOf('A'));
    },
    ends: { A: 'Failed' },
    // Another run, of what a user changes at the end too, finds the host down from the beginning.
    endsAfter: {
      terminate: { A: ['Failed', 'PreflightFailed'] },
      changeSpec: { A: ['Failed', 'PreflightFailed'] },
    },
  },
  {
    ...common,
    name: 'letgo',
    title: 'an Eviction is deleted while Nova ends its migration by no abort, and is let go all the same',
    targets: ofServer,
    prepare: (context) => context.seed('A', [{ migrate: 'slow' }]),
    start: (context) => context.evict('A'),
    async meanwhile(context) {
      await loseItsCompute(context);
      const path = resourcePath('kvm.cloud.sap/v1', 'evictions', { name: context.hostOf('A') });
      await context.fixture.environment.api.request({ method: 'DELETE', path }, new AbortController().signal);
      await context.tell('A', 'deletion');
      await until('it to be let go', patienceMs, async () => (await isGone(context)) || says(context));
      await fleetOf(context).start(context.hostOf('A'));
    },
    ends: { A: gone },
  },
  {
    ...common,
    name: 'revived',
    title: 'a host that goes at a deadline is down when its eviction begins, comes up, and is emptied in time',
    targets: (step) => step.startsWith('A/preflightEviction.'),
    prepare: (context) => context.seed('A', [{}]),
    async start(context) {
      const host = context.hostOf('A');
      const { session, fleet } = regionOf(context.fixture.environment);
      await fleet.crash(host);
      await until(
        'Nova to see it down',
        patienceMs,
        async () => (await findService(session, host)).state === 'down' || 'it is up',
      );
      await context.evict('A', terminating(120));
    },
    async meanwhile(context) {
      await until(
        'it to be waited for',
        patienceMs,
        () => says(context).includes('nova-compute on') || isOver(context) || says(context),
      );
      await labClock().sleep(3 * minuteMs);
      await fleetOf(context).start(context.hostOf('A'));
      await until('it to be over', patienceMs, () => isOver(context) || says(context));
    },
    ends: { A: 'Succeeded' },
  },
  {
    ...common,
    name: 'persistent',
    title: 'a server that cannot be moved is tried again until the deadline, and moves when it can',
    targets: (step) => step.startsWith('A/preflightEviction.'),
    prepare: (context) => context.seed('A', [{ migrate: 'precheck-dest' }, {}]),
    start: (context) => context.evict('A', terminating(120)),
    async meanwhile(context) {
      await until(
        'it to be tried again',
        patienceMs,
        () => says(context).includes('to be tried again') || isOver(context) || says(context),
      );
      await labClock().sleep(5 * minuteMs);
      const [id = ''] = context.expected.keys();
      await fleetOf(context).script(id, ['ok']);
      await until('it to be over', patienceMs, () => isOver(context) || says(context));
    },
    ends: { A: 'Succeeded' },
  },
  {
    ...common,
    name: 'overdue',
    title: 'a deadline that passes is warned of, and ends what cannot be moved',
    targets: (step) => step.startsWith('A/preflightEviction.'),
    prepare: (context) => context.seed('A', [{ migrate: 'precheck-dest' }, {}]),
    start: (context) => context.evict('A', terminating(10)),
    async meanwhile(context) {
      await until(
        'the margin to be short',
        patienceMs,
        () => says(context, 'OnTime').startsWith('MarginShort') || isOver(context) || says(context, 'OnTime'),
      );
      await until('it to be over', patienceMs, () => isOver(context) || says(context));
    },
    ends: { A: 'DeadlinePassed' },
    // What begins when the deadline is past tries once more, and then it was never ahead: after a spec that is changed
    // when the eviction is over, and after a run that was terminated as the deadline passed.
    endsAfter: { changeSpec: { A: ['DeadlinePassed', 'Failed'] }, terminate: { A: ['DeadlinePassed', 'Failed'] } },
    async judge(context) {
      const [end, onTime] = [says(context), says(context, 'OnTime')];
      if (!/^(?:DeadlinePassed|Failed)/u.test(end)) return [];
      return onTime.startsWith('DeadlinePassed') ? [] : [`says of its deadline: ${onTime}`];
    },
  },
  {
    ...common,
    name: 'crowded',
    title: 'two servers may move at once, and the only target takes one at a time',
    targets: (step) => /^A\d\//u.test(step),
    settings: {
      ...evictionScenarioSettings,
      // A migration that fails, or is asked for again, is waited for all the same.
      eviction: { ...evictionScenarioSettings.eviction, perTarget: 1, targetBusyMs: 5 * minuteMs },
    },
    async prepare(context) {
      await leaveOneTarget(context);
      await context.seed('A', [{ seconds: 3 }, { seconds: 3 }]);
    },
    start: (context) => context.evict('A', { [annotations.parallelism]: '2' }),
    ends: { A: 'Succeeded' },
  },
];
