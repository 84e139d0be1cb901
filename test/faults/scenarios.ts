import { findCondition } from '../../contracts/conditions.ts';
import { annotations } from '../../contracts/ids.ts';
import { asSignal, messages } from '../../contracts/messages.ts';
import { labClock } from '../../lab/clock.ts';
import { quickSettings } from '../flows/world-base.ts';
import { until } from '../flows/until.ts';
import { guestScenarios } from './guest-scenarios.ts';
import { hypervisorScenarios } from './hypervisor-scenarios.ts';
import { resourcePolicyScenarios } from './resource-policy-scenarios.ts';
import type { Scenario } from './scenario.ts';
import type { HostAlias } from './context-base.ts';
import type { ScenarioContext } from './context.ts';
import { subjects } from './subjects.ts';
import { fastDeployScenarios } from './fast-deploy-scenarios.ts';
import { virtualMachineScenarios } from './virtual-machine-scenarios.ts';

const { eviction } = quickSettings;

/** Quick in everything, and one publication per phase at most, so that runs of one scenario have the same steps. */
export const evictionScenarioSettings = {
  ...quickSettings,
  eviction: {
    ...eviction,
    retryDelayMs: 100,
    stuck: { ...eviction.stuck, noProgressMs: 2_000 },
    poll: { minMs: 800, maxMs: 2_000 },
    publishMinMs: 3_000,
    publishMaxMs: 6_000,
    maxAttempts: 2,
    lingerMs: 100,
    allowanceRenewMs: 30_000,
  },
  limits: { ...quickSettings.limits, checkMs: 15_000, silentMs: 60_000 },
};

const parallelism = (number: number): Record<string, string> => ({ [annotations.parallelism]: String(number) });

const consenting = (consent: string): Record<string, string> => ({
  [annotations.consent]: consent,
  [annotations.consentBy]: `fault-matrix ${new Date(labClock().now()).toISOString()}`,
});

const patienceMs = 120_000;

/** The run that shares out the region's migrations is the same beside all; the scenario `limit` is about it. */
const ofEviction = (step: string): boolean => !step.startsWith('limits/');

/** Up to the first move all evictions are the same; `happy`, `late` and `limit` have that part. */
const beginning = [
  'A/openEviction.1',
  'A/preflightEviction.1',
  'A/ensureServiceDisabled.1',
  'A/requestAllowance.1',
  'A/publishEviction.1',
];
/** Beside the moves, an eviction is as in `happy`, whatever becomes of them. */
const ofMove = (step: string): boolean => step.startsWith('A1/');
const fromFirstMove = (step: string): boolean => ofEviction(step) && !beginning.includes(step);

const says = (context: ScenarioContext, alias: HostAlias): string =>
  findCondition(context.latestEviction(alias)?.status?.conditions, 'Evicting')?.message ?? '';
const isOver = (context: ScenarioContext, alias: HostAlias): boolean =>
  findCondition(context.latestEviction(alias)?.status?.conditions, 'Evicting')?.status === 'False';

/** Waits until Nova is asked to move a server, or there is nothing left to wait for. */
const untilMoving = (context: ScenarioContext): Promise<unknown> =>
  until(
    'a server to move',
    patienceMs,
    () => isOver(context, 'A') || context.steps().some((step) => step.includes('/awaitMigration.')) || 'none moves',
  );

const evictionScenarios: readonly Scenario[] = [
  {
    name: 'happy',
    title: 'two servers, side by side',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: ofEviction,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{}, {}]),
    start: (context) => context.evict('A', parallelism(2)),
    ends: { A: 'Succeeded' },
  },
  {
    name: 'hanging',
    title: 'a migration that hangs is aborted, and the next attempt succeeds',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: fromFirstMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ migrate: ['hang', 'ok'] }]),
    start: (context) => context.evict('A'),
    ends: { A: 'Succeeded' },
  },
  {
    name: 'failing',
    title: 'a migration that fails, and the next attempt succeeds',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: fromFirstMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ migrate: ['fail', 'ok'] }]),
    start: (context) => context.evict('A'),
    ends: { A: 'Succeeded' },
  },
  {
    name: 'immovable',
    title: 'one server that never moves, and one that does',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: fromFirstMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ migrate: 'precheck-dest' }, {}]),
    start: (context) => context.evict('A'),
    ends: { A: 'Failed' },
  },
  {
    name: 'cold',
    title: 'a stopped server, which goes cold and is confirmed',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: ofMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ state: 'SHUTOFF' }]),
    start: (context) => context.evict('A'),
    ends: { A: 'Succeeded' },
    // What that run had begun is not known to the next one: its resize is left to a user, who is told.
    endsAfter: { terminateMove: { A: 'Failed' } },
  },
  {
    name: 'consented',
    title: 'a running server that cannot move live goes cold, as a user consents to that',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: ofMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ migrate: ['fail', 'fail', 'ok'] }]),
    start: (context) => context.evict('A', consenting('cold-migrate')),
    ends: { A: 'Succeeded' },
    // As in `cold` where it has come so far.
    endsAfter: { terminateMove: { A: ['Succeeded', 'Failed'] } },
  },
  {
    name: 'forced',
    title: 'a migration that hangs twice is forced to finish, as a user consents to that',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: ofMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ migrate: ['hang', 'hang', 'ok'] }]),
    start: (context) => context.evict('A', consenting('force-complete')),
    ends: { A: 'Succeeded' },
  },
  {
    name: 'leaving',
    title: 'a server that a user deletes, and Nova takes its time',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: ofMove,
    // On a busy lab seconds pass between the deletion and the first look of the eviction.
    settings: {
      ...evictionScenarioSettings,
      eviction: { ...evictionScenarioSettings.eviction, instanceBusyMs: 60_000 },
    },
    async prepare(context) {
      await context.seed('A', [{}]);
      await context.changeHost('A', { destroySeconds: 15 });
    },
    async start(context) {
      await context.deleteServers();
      await context.evict('A');
    },
    ends: { A: 'Succeeded' },
  },
  {
    name: 'late',
    title: 'a server arrives when the eviction has begun',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: ofEviction,
    settings: evictionScenarioSettings,
    async prepare(context) {
      await context.seed('A', [{}]);
      await context.changeHost('A', { buildDelaySeconds: 2 });
    },
    async start(context) {
      await context.seedLate('A');
      await context.evict('A');
    },
    meanwhile: (context) => context.untilBuilt(),
    ends: { A: 'Succeeded' },
  },
  {
    name: 'limit',
    title: 'two evictions share one migration at a time',
    subject: 'Eviction',
    hosts: 2,
    ownRegion: true,
    // B does what A does, and the rest of an eviction is as in `happy`.
    targets: (step) => step.startsWith('limits/') || step.startsWith('A/requestAllowance.') || step.startsWith('A1/'),
    settings: {
      ...evictionScenarioSettings,
      eviction: { ...evictionScenarioSettings.eviction, allowanceRenewMs: 3_000 },
      limits: { migrationsPerRegion: 1, checkMs: 1_000, silentMs: 6_000 },
    },
    async prepare(context) {
      await context.seed('A', [{}]);
      await context.seed('B', [{}]);
    },
    async start(context) {
      await context.evict('A');
      await context.evict('B');
    },
    ends: { A: 'Succeeded', B: 'Succeeded' },
  },
  {
    name: 'cancel',
    title: 'a cancel while a server moves',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: fromFirstMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ seconds: 1 }, {}]),
    start: (context) => context.evict('A'),
    async meanwhile(context) {
      await untilMoving(context);
      if (!isOver(context, 'A')) await context.run('A').cancel();
    },
    ends: { A: 'Stopped' },
    // What a run was told is lost with it, and a changed spec is a new wish, unless the cancel came after the fault.
    endsAfter: { terminate: { A: ['Stopped', 'Succeeded'] }, changeSpec: { A: ['Stopped', 'Succeeded'] } },
  },
  {
    name: 'paused',
    title: 'a pause while a server moves, then a resume',
    subject: 'Eviction',
    hosts: 1,
    ownRegion: false,
    targets: fromFirstMove,
    settings: evictionScenarioSettings,
    prepare: (context) => context.seed('A', [{ seconds: 1 }, {}]),
    start: (context) => context.evict('A'),
    async meanwhile(context) {
      await untilMoving(context);
      // A person tries again when a run was lost together with what it had been told.
      await until('a pause, or the end', patienceMs, async () => {
        if (isOver(context, 'A')) return true;
        await context.run('A').signal(asSignal(messages.pause), { by: 'fault matrix' });
        return true;
      });
      await until(
        'the pause to show, or the end',
        patienceMs,
        () => says(context, 'A').includes('Paused by') || isOver(context, 'A') || says(context, 'A'),
      );
      if (!isOver(context, 'A'))
        await until(
          'a resume',
          patienceMs,
          async () => (await context.run('A').signal(asSignal(messages.resume), { by: 'fault matrix' }), true),
        );
    },
    ends: { A: 'Succeeded' },
  },
];

export const scenarios: readonly Scenario[] = [
  ...evictionScenarios,
  ...hypervisorScenarios,
  ...guestScenarios,
  ...virtualMachineScenarios,
  ...fastDeployScenarios,
  ...resourcePolicyScenarios,
];

/** Of the lab: what these scenarios need. */
export const partsFor = (some: readonly Pick<Scenario, 'subject' | 'parts'>[]) => [
  ...new Set(some.flatMap(({ subject, parts = [] }) => [...subjects[subject].parts, ...parts])),
];

export function findScenario(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`no scenario ${name}; there are ${scenarios.map((scenario) => scenario.name).join(', ')}`);
  return found;
}
