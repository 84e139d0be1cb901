import { findCondition } from '../../contracts/conditions.ts';
import { hypervisorConditions } from '../../contracts/hypervisor/conditions.ts';
import { nodeMetadata } from '../../contracts/ids.ts';
import type { CommandEnd } from '../../lab/kubectl.ts';
import { createAggregate } from '../../lab/openstack/hosts.ts';
import type { EvictionDescription } from '../../starters/eviction/eviction-description.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';
import type { ListedHost } from '../../starters/hypervisor/listed-host.ts';
import { checkInvariants } from '../invariants.ts';
import type { HypervisorFixture } from './hypervisor-fixture.ts';
import { lifecycleSettings, openHypervisorFixture } from './hypervisor-fixture.ts';
import { until } from './until.ts';
import type { World } from './world.ts';
import { limitMs } from './world-base.ts';
import { openWorld } from './world.ts';

/**
 * The commands for hypervisors, as a user types them: a host is onboarded, maintained, brought back, and taken
 * out of Nova.
 */

/** Comes from its Node. */
const host = 'node-4';
/** Comes from the lab without a Node, in a zone that is not there yet. */
const zoneless = 'node-3';
const zone = 'az-commands';
let world: World;
let fixture: HypervisorFixture;

beforeAll(async () => {
  world = await openWorld({ settings: lifecycleSettings(), ownLab: true });
  fixture = await openHypervisorFixture(world, { zone, hosts: [host] });
}, limitMs);
afterAll(() => world.close(), limitMs);
afterEach(() => checkInvariants(world), limitMs);

async function drover(exitCode: number, ...args: string[]): Promise<CommandEnd> {
  const end = await world.command(...args);
  if (end.code !== exitCode)
    throw new Error(
      `drover ${args.join(' ')} exited ${String(end.code)}, not ${String(exitCode)}\n${end.stdout}${end.stderr}`,
    );
  return end;
}
const json = async <Shape>(...args: string[]): Promise<Shape> =>
  JSON.parse((await drover(exitCodes.ok, ...args, '--json')).stdout) as Shape;
const listed = async (name: string): Promise<ListedHost | undefined> =>
  (await json<ListedHost[]>('hosts')).find((one) => one.host === name);

test(
  'a host that is not driven is onboarded by its spec, which its Node does not reset',
  async () => {
    await fixture.applyNode(host, { lifecycle: null });
    await fixture.untilState(host, 'Initial', 'False');
    expect((await drover(exitCodes.ok, 'describe', host)).stdout).toMatch(/^ {2}drover onboard node-4 /mu);
    expect(await listed(host)).toMatchObject({
      state: 'Initial',
      status: 'blocked',
      needsAttention: false,
      lifecycleEnabled: false,
    });

    const { stdout, stderr } = await drover(exitCodes.ok, 'onboard', host, '--skip-tests', '--wait', '--timeout', '5m');
    expect(stdout).toMatch(/^The lifecycle of node-4 is driven from now on\.$/mu);
    expect(stdout).toMatch(/^Active: node-4 is in service$/mu);
    // Every phase is printed with its time; how many are observed depends on the machine.
    expect(stderr).toMatch(/^\d{4}-\S+Z \S/mu);
    // What the Node says of something else is taken over, and what it does not say stays.
    await world.kubectl(['annotate', 'node', host, `${nodeMetadata.customTraits}=CUSTOM_COMMANDS`]);
    await until('the traits to be taken over', 60_000, async () =>
      (await fixture.read(host))?.spec?.customTraits?.includes('CUSTOM_COMMANDS') ? true : 'not yet',
    );
    expect((await fixture.untilState(host, 'Active')).spec).toMatchObject({ lifecycleEnabled: true, skipTests: true });
    expect((await drover(exitCodes.ok, 'onboard', host)).stdout).toMatch(/driven already\. Active: /u);
  },
  limitMs,
);

test(
  'a Node that speaks of the lifecycle is what onboard changes',
  async () => {
    await world.kubectl(['label', 'node', host, `${nodeMetadata.lifecycle}=yes`]);
    await until('the Node to be signalled', 60_000, async () =>
      (await fixture.read(host))?.spec?.skipTests === false ? true : 'not yet',
    );
    expect((await drover(exitCodes.ok, 'onboard', host, '--skip-tests', '--wait', '--timeout', '5m')).stdout).toMatch(
      /of Node node-4 is set: tests are left out/u,
    );
    const node = JSON.parse(await world.kubectl(['get', 'node', host, '-o', 'json'])) as {
      metadata: { labels: object };
    };
    expect(node.metadata.labels).toMatchObject({ [nodeMetadata.lifecycle]: 'skip-tests' });
    expect((await fixture.read(host))?.spec).toMatchObject({ lifecycleEnabled: true, skipTests: true });
  },
  limitMs,
);

test(
  'into maintenance and back; a maintenance of another user is not overwritten',
  async () => {
    await fixture.reportAgent(host);
    await world.seed([{ name: 'guest', host }]);
    const { stdout, stderr } = await drover(
      exitCodes.ok,
      'maintain',
      host,
      '--reason',
      'disks',
      '--wait',
      '--timeout',
      '5m',
      '--as',
      'alice',
    );
    expect(stdout).toMatch(/^node-4 goes into maintenance manual: disks$/mu);
    expect(stdout).toMatch(/^Maintenance: node-4 is disabled and empty: disks$/mu);
    expect(stderr).toMatch(/^\d{4}-\S+Z \S/mu);
    expect(await world.service(host)).toMatchObject({
      status: 'disabled',
      disabled_reason: expect.stringContaining('drover: maintenance manual: disks'),
    });
    expect(await listed(host)).toMatchObject({
      state: 'Maintenance',
      status: 'reconciled',
      maintenance: 'manual',
      maintenanceReason: 'disks',
      maintainedBy: expect.stringMatching(/^alice \d{4}-/u),
      libVirtVersion: '10.0.0',
    });

    const refusals = await Promise.all([
      drover(exitCodes.refused, 'maintain', host, '--reason', 'memory'),
      drover(exitCodes.refused, 'maintain', host, '--reason', 'disks', '--mode', 'ha'),
      drover(exitCodes.notFound, 'maintain', 'node-44', '--reason', 'disks'),
    ]);
    expect(refusals.map((end) => end.stderr)).toEqual([
      expect.stringMatching(/already in maintenance manual, by alice .*: disks\./u),
      expect.stringMatching(/stays manual/u),
      expect.stringMatching(/Did you mean node-4\?/u),
    ]);
    expect((await drover(exitCodes.ok, 'maintain', host, '--reason', 'disks')).stdout).toMatch(/Nothing was changed/u);
    // The last manager of the field is named.
    await fixture.patchSpec(host, { maintenance: 'auto' });
    expect(await listed(host)).toMatchObject({ maintenance: 'auto', maintainedBy: expect.stringMatching(/^kubectl/u) });

    expect((await drover(exitCodes.ok, 'activate', host, '--wait', '--timeout', '5m')).stdout).toMatch(
      /^Active: node-4 is in service$/mu,
    );
    expect(await world.service(host)).toMatchObject({ status: 'enabled' });
    const { spec, metadata } = await fixture.untilState(host, 'Active');
    expect([spec?.maintenance, spec?.maintenanceReason, metadata.annotations?.['drover.dev/maintenance-by']]).toEqual([
      '',
      undefined,
      undefined,
    ]);
    expect((await drover(exitCodes.ok, 'activate', host)).stdout).toMatch(/not in maintenance\. Active/u);
  },
  limitMs,
);

test(
  'an onboarding that was aborted is described, stands out, and is tried again',
  async () => {
    await fixture.untilState(zoneless, 'Aborted', 'False');
    const described = await json<EvictionDescription>('describe', zoneless);
    expect(described).toMatchObject({
      run: null,
      eviction: null,
      hypervisor: { object: { name: zoneless }, takenAwayAt: null },
    });
    const { stdout } = await drover(exitCodes.ok, 'describe', zoneless);
    expect(stdout).toMatch(/^node-3: Aborted for .*, and needs attention$/mu);
    expect(stdout).toMatch(/^ {2}drover retry node-3 /mu);
    const { stdout: table } = await drover(exitCodes.ok, 'hosts', '--attention', '--state', 'aborted');
    expect(table).toMatch(/^node-3 +Aborted ! /mu);
    expect((await drover(exitCodes.refused, 'onboard', zoneless)).stderr).toMatch(/drover retry node-3/u);
    expect((await drover(exitCodes.refused, 'activate', zoneless)).stderr).toMatch(/drover retry node-3/u);

    await createAggregate(world.session, { name: 'zone-a', availabilityZone: 'zone-a' });
    expect((await drover(exitCodes.ok, 'retry', zoneless)).stdout).toMatch(
      /^Hypervisor node-3 is tried again\. It was Aborted: /mu,
    );
    await fixture.untilState(zoneless, 'Active');
    expect((await drover(exitCodes.notFound, 'retry', zoneless)).stderr).toMatch(
      /no Eviction of node-3.*does not wait for an operator either: Active/su,
    );
  },
  limitMs,
);

test(
  'out of Nova for good, with the way back in the output',
  async () => {
    const waiting = drover(
      exitCodes.ok,
      'decommission',
      zoneless,
      '--reason',
      'lease ends',
      '--consent',
      'delete-allocations',
      '--wait',
      '--timeout',
      '5m',
    );
    const request = until('the request to stop nova-compute', 120_000, async () => {
      const message =
        findCondition((await fixture.read(zoneless))?.status?.conditions, hypervisorConditions.lifecycle)?.message ??
        'nothing said';
      return message.includes('nova-compute on the host still answers') ? {} : message;
    });
    await Promise.race([request, waiting]);
    await world.fleet.crash(zoneless);
    const { stdout } = await waiting;
    expect(stdout).toMatch(/cannot be undone/u);
    expect(stdout).toMatch(/^Decommissioned: Offboarding successful$/mu);
    const { metadata, spec } = await fixture.untilState(zoneless, 'Decommissioned');
    expect(spec).toMatchObject({ maintenance: 'termination', maintenanceReason: 'lease ends' });
    expect(metadata.annotations).toMatchObject({
      'drover.dev/consent': 'delete-allocations',
      'drover.dev/consent-by': expect.stringMatching(/^flow-test \d{4}-/u),
    });
    for (const [command, message] of [
      ['activate', /taken out of Nova for good.*--mode ha/su],
      ['onboard', /was taken out of Nova/u],
    ] as const)
      expect((await drover(exitCodes.refused, command, zoneless)).stderr).toMatch(message);
    expect((await drover(exitCodes.refused, 'maintain', zoneless, '--reason', 'x')).stderr).toMatch(/--mode ha/u);
    expect((await drover(exitCodes.ok, 'decommission', zoneless, '--reason', 'again')).stdout).toMatch(
      /decommissioned already/u,
    );

    expect((await drover(exitCodes.ok, 'maintain', zoneless, '--mode', 'ha', '--reason', 'too early')).stdout).toMatch(
      /not taken out of Nova any more/u,
    );
    expect((await drover(exitCodes.ok, 'activate', zoneless)).stdout).toMatch(/comes back/u);
    // It is onboarded anew: nova-compute is waited for, or has registered already.
    const back = await until('the onboarding to begin anew', 60_000, async () => {
      const hypervisor = await fixture.read(zoneless);
      const reason =
        findCondition(hypervisor?.status?.conditions, hypervisorConditions.lifecycle)?.reason ?? 'nothing said';
      return hypervisor !== null && ['Onboarding', 'Testing', 'Ready', 'Active', 'Aborted'].includes(reason)
        ? hypervisor
        : reason;
    });
    expect(back.spec?.maintenance).toBe('');
  },
  limitMs,
);
