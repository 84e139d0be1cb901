import { ApplicationFailure } from '@temporalio/common';
import type { GuestWatchProgress, GuestWatchRound } from '../../contracts/node-failure/guest-watch.ts';
import { asSignal, messages, progressQuery, unseenChange } from '../../contracts/messages.ts';
import { labClock } from '../../lab/clock.ts';
import { droverFailure } from '../../runtime/failure.ts';
import { contextOf, nodeOf } from '../fixtures/workflows/hypervisor.ts';
import { alive, quietRound } from './node-failure/guests.ts';
import { comeBack, openFailureWorld, untilObserved, type FailureWorld, type Machine } from './node-failure/world.ts';
import { until } from './until.ts';

/** The run of a node failure on a Temporal, with scripted machines. */

let world: FailureWorld;

beforeAll(async () => {
  world = await openFailureWorld();
}, 180_000);

afterAll(async () => {
  await world?.close();
}, 60_000);

const evacuations = ({ actions }: Machine): string[] => actions.filter((action) => action.startsWith('evacuate'));
const patienceMs = 30_000;

test('a dead host is fenced, evacuated, held, and restored once it came back as another boot', async () => {
  const { machine, handle, progress, replay } = await world.fail('dead');
  await until(
    'all to be evacuated',
    patienceMs,
    () => Object.values(machine.servers).every((host) => host === 'elsewhere') || JSON.stringify(machine.actions),
  );
  expect(machine.actions).toEqual([
    'powerOff',
    'disable',
    'forceDown by power-off',
    'evacuate a',
    'evacuate b',
    'evacuate c',
  ]);
  await until(
    'it to say that it waits for the host',
    patienceMs,
    () => /Waiting for dead to be mended/u.test(machine.condition?.message ?? '') || 'not yet',
  );
  expect(await progress()).toMatchObject({ object: 'NodeFailure dead', phase: 'Fenced' });
  expect(machine).toMatchObject({
    hold: 'NodeFailure',
    fencedBootId: 'boot-1',
    condition: { status: 'True', reason: 'Fenced', message: expect.stringContaining('3 of 3 servers have left it') },
  });
  await untilObserved(machine, 3);
  comeBack(machine, 'boot-2');
  expect(await handle.result()).toMatchObject({ reason: 'Restored' });
  expect(machine).toMatchObject({ hold: null, fencedBootId: null, condition: { status: 'False', reason: 'Restored' } });
  expect(machine.actions.slice(6)).toEqual(['forceUp by restart']);
  await replay();
}, 120_000);

test('a hold that a user has written is there again when the host is restored, also one that was written over drover’s', async () => {
  const { machine, handle, replay } = await world.fail('held-by-user', { hold: 'Disk: wait for the vendor' });
  await until('all to be evacuated', patienceMs, () => evacuations(machine).length === 3 || 'not yet');
  expect(machine).toMatchObject({ hold: 'NodeFailure', keptHold: 'Disk: wait for the vendor' });
  comeBack(machine, 'boot-2');
  expect(await handle.result()).toMatchObject({ reason: 'Restored' });
  expect(machine).toMatchObject({ hold: 'Disk: wait for the vendor', keptHold: null, fencedBootId: null });
  await replay();

  const later = await world.fail('held-later');
  await until('all to be evacuated', patienceMs, () => evacuations(later.machine).length === 3 || 'not yet');
  later.machine.hold = 'Memory: replace DIMM 3';
  await untilObserved(later.machine, 2);
  comeBack(later.machine, 'boot-2');
  expect(await later.handle.result()).toMatchObject({ reason: 'Restored' });
  expect(later.machine).toMatchObject({ hold: 'Memory: replace DIMM 3', keptHold: null, fencedBootId: null });
}, 120_000);

test('an amphora of Octavia stays, by the tag of its image; where Glance is silent all servers leave, and it is said', async () => {
  const { machine, handle } = await world.fail('amphora', { imageTags: { b: ['amphora'] } });
  const apart = { a: 'elsewhere', b: 'amphora', c: 'elsewhere' };
  const stayedAlone = (): boolean => Object.entries(apart).every(([id, host]) => machine.servers[id] === host);
  await until('the others to be evacuated', patienceMs, () => stayedAlone() || JSON.stringify(machine.servers));
  await until(
    'it to say why one stays',
    patienceMs,
    () => /vm-b \(its image has the tag amphora\)/u.test(machine.condition?.message ?? '') || 'not yet',
  );
  expect(machine.servers).toEqual(apart);
  expect(evacuations(machine)).toHaveLength(2);
  comeBack(machine, 'boot-2');
  await handle.result();

  const silent = await world.fail('glance-silent', { imageTags: { a: null, b: null, c: null } });
  await until('all to be evacuated', patienceMs, () => evacuations(silent.machine).length === 3 || 'not yet');
  expect(silent.machine.events).toEqual(
    expect.arrayContaining([expect.stringMatching(/^ImagesNotRead: Glance could not be read.*3 servers/u)]),
  );
  comeBack(silent.machine, 'boot-2');
  await silent.handle.result();
}, 120_000);

test('a partition: everything is silent and the BMC says On, so nothing is done to the host, ever, whatever is asked', async () => {
  const { machine, handle, progress, confirm, replay } = await world.fail('cut-off', { power: 'On' });
  await until(
    'it to be a suspect',
    patienceMs,
    async () => (await progress()).verdict?.reason === 'NoWitness' || 'not yet',
  );
  await untilObserved(machine, 10);
  await expect(confirm()).rejects.toMatchObject({ cause: { message: expect.stringContaining('PowerOn') } });
  await untilObserved(machine, 10);
  expect(machine).toMatchObject({
    actions: [],
    hold: null,
    forcedDown: false,
    condition: { status: 'True', reason: 'NoWitness' },
  });
  expect(machine.events).toEqual([expect.stringContaining('drover confirm cut-off --incident cut-off/')]);
  // The network is mended: the same boot, as it never was off.
  comeBack(machine, 'boot-1');
  expect(await handle.result()).toMatchObject({ reason: 'Recovered' });
  expect(machine.actions).toEqual([]);
  await replay();
}, 120_000);

const hung = { power: 'On', libvirt: 'silent', fencesSilent: true } as const;

test('a host that has power and is silent is fenced and evacuated where that is asked for', async () => {
  const { machine, handle, progress, replay } = await world.fail('hung', hung);
  await until(
    'all to be evacuated',
    patienceMs,
    () => evacuations(machine).length === 3 || JSON.stringify(machine.actions),
  );
  expect(machine.actions.slice(0, 3)).toEqual(['powerOff', 'disable', 'forceDown by power-off']);
  expect(machine.events).toEqual(
    expect.arrayContaining([expect.stringContaining('PoweredOff: hung is off'), expect.stringContaining('Fenced: ')]),
  );
  expect(await progress()).toMatchObject({ silence: null, witnesses: expect.arrayContaining([]) });
  comeBack(machine, 'boot-2');
  machine.libvirt = 'healthy';
  expect(await handle.result()).toMatchObject({ reason: 'Restored' });
  await replay();
}, 120_000);

test('a host whose BMC refuses holds no other one back, and is not asked again at once; one that may be off does', async () => {
  const { machine, progress, replay, handle } = await world.fail('refused', {
    ...hung,
    powerOffRefusal: 'PowerOffRefused',
  });
  await until('the first attempt', patienceMs, () => machine.actions.includes('powerOff') || 'not yet');
  await until('its claim to be given up', patienceMs, () => !machine.isClaimed || 'not yet');
  await untilObserved(machine, 4);
  expect(machine.actions).toEqual(['powerOff']);
  expect(await progress()).toMatchObject({ reason: 'Retrying', problem: expect.stringContaining('the test') });
  comeBack(machine, 'boot-2');
  machine.libvirt = 'healthy';
  expect(await handle.result()).toMatchObject({ reason: 'Recovered' });
  await replay();

  const other = await world.fail('still-on', { ...hung, powerOffRefusal: 'PowerStillOn' });
  await until('the first attempt', patienceMs, () => other.machine.actions.includes('powerOff') || 'not yet');
  await untilObserved(other.machine, 2);
  expect(other.machine.isClaimed).toBe(true);
  comeBack(other.machine, 'boot-2');
  other.machine.libvirt = 'healthy';
  expect(await other.handle.result()).toMatchObject({ reason: 'Recovered' });
}, 120_000);

test('one that reports in the last moment is left alone', async () => {
  const { machine, handle, replay } = await world.fail('revived', hung);
  machine.meanwhile = async (what) => {
    if (what !== 'claim') return;
    comeBack(machine, 'boot-1');
    machine.libvirt = 'healthy';
  };
  expect(await handle.result()).toMatchObject({ reason: 'Recovered' });
  expect(machine.actions).toEqual([]);
  await replay();
}, 120_000);

test('nothing is fenced so when the budget of the hour is spent, or while one of the witnesses hears of it', async () => {
  const spent = await world.fail('over-budget', { ...hung, isBudgetSpent: true });
  await until(
    'it to say so',
    patienceMs,
    () =>
      spent.machine.condition?.message.includes('was spent on another') ||
      (spent.machine.condition?.message ?? 'not yet'),
  );
  const heard = await world.fail('heard-of', { ...hung, libvirt: null });
  await until(
    'it to say so',
    patienceMs,
    () => heard.machine.condition?.message.includes('NoQuorum') || (heard.machine.condition?.message ?? 'not yet'),
  );
  expect(await heard.progress()).toMatchObject({ silence: expect.stringContaining('2 observe') });
  await untilObserved(heard.machine, 5);
  for (const { machine, handle } of [spent, heard]) {
    expect(machine.actions).toEqual([]);
    comeBack(machine, 'boot-1');
    machine.libvirt = 'healthy';
    expect(await handle.result()).toMatchObject({ reason: 'Recovered' });
    expect(machine).toMatchObject({ actions: [], hold: null });
  }
}, 120_000);

test.each([
  ['its Hypervisor has recorded its boot', 'boot-1'],
  ['its boot is not recorded', null],
])(
  'a dead host whose Node is gone is confirmed where %s, and the run ends when Nova has it no more',
  async (_what, lastBootId) => {
    const host = `nodeless-${lastBootId ?? 'unknown'}`;
    const { machine, handle, progress, confirm, replay } = await world.fail(host, {
      ready: 'Gone',
      power: null,
      mode: 'recommend',
      lastBootId,
    });
    await until('it to be a suspect', patienceMs, async () => (await progress()).confirm !== null || 'not yet');
    expect(await progress()).toMatchObject({ bootId: lastBootId ?? 'unknown', verdict: { reason: 'NoWitness' } });
    await expect(confirm({ bootId: 'boot-0' })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('WrongBootId') },
    });
    expect(await confirm()).toContain('jane');
    await until(
      'all to be evacuated',
      patienceMs,
      () => evacuations(machine).length === 3 || JSON.stringify(machine.actions),
    );
    expect(machine.fencedBootId).toBe(lastBootId);
    await untilObserved(machine, 3);
    // It is decommissioned: its service is taken out of Nova.
    machine.hasLeftNova = true;
    expect(await handle.result()).toMatchObject({ outcome: 'gone', reason: 'LeftNova' });
    expect(machine).toMatchObject({ hold: 'NodeFailure', condition: { status: 'False', reason: 'LeftNova' } });
    await replay();
  },
  120_000,
);

test('without a BMC a user confirms, once and for this incident only', async () => {
  const { machine, handle, progress, confirm, replay } = await world.fail('by-hand', {
    power: null,
    mode: 'recommend',
  });
  await until('it to be a suspect', patienceMs, async () => (await progress()).confirm !== null || 'not yet');
  await untilObserved(machine, 5);
  expect(machine.actions).toEqual([]);
  await expect(confirm({ incident: 'by-hand/yesterday' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('WrongIncident') },
  });
  await expect(confirm({ bootId: 'boot-0' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('WrongBootId') },
  });
  await expect(confirm({ person: ' ' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('bootId') },
  });
  expect(machine.actions).toEqual([]);
  expect(await confirm()).toContain('jane');
  await until(
    'all to be evacuated',
    patienceMs,
    () => evacuations(machine).length === 3 || JSON.stringify(machine.actions),
  );
  expect(machine.actions.slice(0, 2)).toEqual(['disable', 'forceDown by person']);
  expect(machine.events).toEqual(expect.arrayContaining([expect.stringContaining('ConfirmedOff: jane')]));
  comeBack(machine, 'boot-2');
  expect(await handle.result()).toMatchObject({ reason: 'Restored' });
  await replay();
}, 120_000);

test('a confirmation by a signal counts as well, as tctl knows no updates; a refused one is in the progress', async () => {
  const { machine, handle, progress } = await world.fail('signalled', { power: null, mode: 'recommend' });
  const { incident, bootId } = await until('it to be a suspect', patienceMs, async () => {
    const now = await progress();
    return now.confirm === null ? 'not yet' : now;
  });
  await handle.signal(asSignal(messages.confirmOff), { incident: 'another', bootId, person: 'jane' });
  await until(
    'the refusal',
    patienceMs,
    async () => (await progress()).refusal?.includes('WrongIncident') ?? 'not yet',
  );
  await handle.signal(asSignal(messages.confirmOff), { incident, bootId, person: 'jane' });
  await until(
    'all to be evacuated',
    patienceMs,
    () => evacuations(machine).length === 3 || JSON.stringify(machine.actions),
  );
  comeBack(machine, 'boot-2');
  await handle.result();
}, 120_000);

const lives: [what: string, sign: (machine: Machine) => void][] = [
  ['comes back as the same boot', (machine) => void (machine.ready = 'True')],
  ['comes back as another boot', (machine) => comeBack(machine, 'boot-2')],
  ['has a kubelet that says that it is not ready', (machine) => void (machine.ready = 'False')],
  ['has power again', (machine) => void (machine.power = 'On')],
  ['is released by a user', (machine) => void (machine.forcedDown = false)],
];
test.each(lives.map((row, index) => [...row, index] as const))(
  'where it %s while servers are evacuated, nothing more begins',
  async (_what, sign, index) => {
    const { machine, handle, replay } = await world.fail(`lives-${index}`, { evacuationsEnd: false });
    await until(
      'the first to be on its way',
      patienceMs,
      () => evacuations(machine).length === 1 || JSON.stringify(machine.actions),
    );
    sign(machine);
    machine.mode = 'recommend';
    await untilObserved(machine, 3);
    machine.evacuationsEnd = true;
    await until('the first to have ended', patienceMs, () => machine.servers['a'] === 'elsewhere' || 'not yet');
    if (machine.ready === 'True' && machine.bootId === 'boot-2') await handle.result();
    else if (!machine.forcedDown) expect(await handle.result()).toMatchObject({ reason: 'TakenOver' });
    else await untilObserved(machine, 6);
    expect(evacuations(machine)).toEqual(['evacuate a']);
    expect(machine.servers).toEqual({ a: 'elsewhere', b: machine.host, c: machine.host });
    if (machine.bootId === 'boot-1' && machine.forcedDown) expect(machine.hold).toBe('NodeFailure');
    await replay();
    if ((await handle.describe()).status.name === 'RUNNING') await handle.terminate('the test is over');
  },
  120_000,
);

test('a run that was terminated is taken up by the next: what was fenced stays so, and new evidence is needed', async () => {
  const first = await world.fail('terminated', { evacuationsEnd: false });
  await until('the first to be on its way', patienceMs, () => evacuations(first.machine).length === 1 || 'not yet');
  await first.handle.terminate('by a user');
  const { machine, handle, progress } = await world.fail('terminated', {
    ...first.machine,
    mode: 'recommend',
    power: null,
    actions: [],
    evacuationsEnd: true,
  });
  await until('it to know', patienceMs, async () => (await progress()).forcedDown || 'not yet');
  await untilObserved(machine, 6);
  expect(machine.actions).toEqual([]);
  comeBack(machine, 'boot-2');
  expect(await handle.result()).toMatchObject({ reason: 'Restored' });
  expect(machine).toMatchObject({ hold: null, actions: ['forceUp by restart'] });
}, 120_000);

test('a cancel begins nothing more, lets what is in flight end, and leaves the host held', async () => {
  const { machine, handle, progress, replay } = await world.fail('cancelled', { evacuationsEnd: false });
  await until('the first to be on its way', patienceMs, () => evacuations(machine).length === 1 || 'not yet');
  await handle.cancel();
  await until('it to know', patienceMs, async () => (await progress()).message.includes('was cancelled') || 'not yet');
  machine.evacuationsEnd = true;
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  expect(evacuations(machine)).toHaveLength(1);
  expect(machine).toMatchObject({
    hold: 'NodeFailure',
    forcedDown: true,
    condition: { reason: 'Cancelled', message: expect.stringContaining('stays forced down and held') },
  });
  await replay();
}, 120_000);

test('a cancel while the host is restored: it is released all the same, and says so', async () => {
  const { machine, handle, replay } = await world.fail('cancelled-late');
  await until('all to be evacuated', patienceMs, () => evacuations(machine).length === 3 || 'not yet');
  machine.meanwhile = async (what) => {
    if (what === 'forceUp by restart') await handle.cancel();
  };
  comeBack(machine, 'boot-2');
  await expect(handle.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  expect(machine).toMatchObject({
    hold: null,
    fencedBootId: null,
    forcedDown: false,
    condition: { status: 'False', reason: 'Restored' },
  });
  await replay();
}, 120_000);

test('a host that fails again while the run says that it is over is another incident of the same run', async () => {
  const { machine, handle, progress, replay } = await world.fail('again', { mode: 'recommend', power: 'On' });
  await until('it to be a suspect', patienceMs, () => machine.condition?.reason === 'NoWitness' || 'not yet');
  const { incident } = await progress();
  machine.meanwhile = async (what) => {
    if (what !== 'said Recovered') return;
    Object.assign(machine, { ready: 'Unknown', compute: 'down', meanwhile: null });
    await handle.signal(messages.objectChanged, unseenChange('node'));
  };
  comeBack(machine, 'boot-1');
  await until('the next incident', patienceMs, async () => (await progress()).incident !== incident || 'not yet');
  await until('it to be a suspect again', patienceMs, () => machine.condition?.reason === 'NoWitness' || 'not yet');
  comeBack(machine, 'boot-1');
  expect(await handle.result()).toMatchObject({ outcome: 'reconciled', reason: 'Recovered' });
  await replay();
}, 120_000);

test('a host that lives and is not Ready is handed over, to be emptied live; where drover only recommends, it says how', async () => {
  const { machine, handle } = await world.fail('alive', { ready: 'False', compute: 'up', power: 'On' });
  expect(await handle.result()).toMatchObject({ reason: 'HandedOver' });
  expect(machine).toMatchObject({ actions: ['maintenance ha'], hold: null });

  const result = await world.fail('alive-recommended', {
    ready: 'False',
    compute: 'up',
    power: 'On',
    mode: 'recommend',
  });
  await until('it to be recommended', patienceMs, () => result.machine.events.length > 0 || 'not yet');
  await untilObserved(result.machine, 3);
  expect(result.machine.events).toEqual([expect.stringContaining('"maintenance":"ha"')]);
  expect(result.machine.actions).toEqual(['advise']);
  comeBack(result.machine, 'boot-1');
  await result.handle.result();
  expect(result.machine.actions).toEqual(['advise', 'withdraw advice']);
}, 120_000);

test('a host whose spec has changed meanwhile is not handed over yet, and no other waits for it', async () => {
  const { machine, handle } = await world.fail('overtaken', {
    ready: 'False',
    compute: 'up',
    power: 'On',
    isOvertaken: true,
  });
  const says = (): true | string =>
    machine.condition?.message.includes('The spec of overtaken was changed meanwhile') === true || 'not yet';
  await until('that to be said', patienceMs, says);
  await until('its claim to be given up', patienceMs, () => !machine.isClaimed || 'not yet');
  expect(machine.actions).toEqual([]);
  machine.isOvertaken = false;
  expect(await handle.result()).toMatchObject({ reason: 'HandedOver' });
  expect(machine.actions).toEqual(['maintenance ha']);
}, 120_000);

test('guests that fail on a host that lives: it is handed over where drover may act, else what it would take is planned and said', async () => {
  const acted = await world.fail('guests', alive, '2 guests failed: vm-1, vm-2');
  expect(await acted.handle.result()).toMatchObject({ reason: 'HandedOver' });
  expect(acted.machine).toMatchObject({ actions: ['maintenance ha'], hold: null, forcedDown: false });
  await acted.replay();

  const { machine, handle, progress, confirm, replay } = await world.fail(
    'guests-recommended',
    { ...alive, mode: 'recommend' },
    '2 guests failed: vm-1, vm-2',
  );
  await until('it to be recommended', patienceMs, () => machine.events.length > 0 || 'not yet');
  await untilObserved(machine, 3);
  // The same signal once more changes nothing.
  await handle.signal(messages.guestsFailing, { message: '2 guests failed: vm-1, vm-2' });
  await handle.signal(messages.guestsFailing.name, 'no message at all');
  await untilObserved(machine, 3);
  expect(await progress()).toMatchObject({
    verdict: { verdict: 'failed', reason: 'GuestsFailing' },
    confirm: null,
  });
  await expect(confirm()).rejects.toMatchObject({ cause: { message: expect.stringContaining('ServiceUp') } });
  expect(machine.actions).toEqual(['advise']);
  expect(machine.events).toEqual([expect.stringMatching(/^GuestsFailing: .*vm-1, vm-2.*"maintenance":"ha"/u)]);
  machine.libvirt = 'silent';
  await until(
    'libvirt to be what is wrong',
    patienceMs,
    async () => (await progress()).verdict?.reason === 'LibvirtSilent' || 'not yet',
  );
  machine.libvirt = null;
  expect(await handle.result()).toMatchObject({ reason: 'Recovered' });
  expect(machine.actions).toEqual(['advise', 'withdraw advice']);
  await replay();
}, 120_000);

test('the guest watch executes round after round, waits after a failure until a user asks, and ends where it is not wanted', async () => {
  world.rounds.push(
    quietRound,
    ApplicationFailure.create({ type: 'StillBroken', message: 'it broke', nonRetryable: true }),
    quietRound,
  );
  const { handle, replay } = await world.listen(0);
  await until(
    'it to wait',
    patienceMs,
    async () => (await handle.query(progressQuery<GuestWatchProgress>())).waitingFor.includes('it broke') || 'not yet',
  );
  expect(await handle.query(progressQuery<GuestWatchProgress>())).toMatchObject({ shard: 0, lastRound: quietRound });
  await handle.executeUpdate(messages.retryNow, { args: [{}] });
  expect(await handle.result()).toMatchObject({ outcome: 'SwitchedOff' });
  await replay();

  // Asked for while the round that fails is under way.
  const { promise, reject } = Promise.withResolvers<GuestWatchRound>();
  let hasBegun = false;
  world.rounds.push(() => {
    hasBegun = true;
    return promise;
  }, quietRound);
  const hurried = await world.listen(2);
  await until('the round to begin', patienceMs, () => hasBegun || 'not yet');
  await hurried.handle.executeUpdate(messages.retryNow, { args: [{}] });
  const requestedMs = labClock().now();
  reject(ApplicationFailure.create({ type: 'StillBroken', message: 'it broke', nonRetryable: true }));
  expect(await hurried.handle.result()).toMatchObject({ outcome: 'SwitchedOff' });
  expect(labClock().now() - requestedMs).toBeLessThan(5_000);
  await hurried.replay();

  world.rounds.push(droverFailure('InvalidInput', 'A guest watch is {"shard": number}'));
  const refused = await world.listen(1, { shard: 'one' });
  await expect(refused.handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
}, 60_000);

test('local disks stay until a user abandons them, server by server', async () => {
  const { machine, handle, progress, replay } = await world.fail('disks', { localDisks: ['b', 'c'] });
  await until(
    'the others to be evacuated',
    patienceMs,
    () => machine.servers['a'] === 'elsewhere' || JSON.stringify(machine.actions),
  );
  await until(
    'it to wait',
    patienceMs,
    async () => (await progress()).waiting?.message.includes('to be mended') ?? 'not yet',
  );
  const { incident, servers } = await progress();
  expect(servers?.left.map(({ name }) => name)).toEqual(['vm-b', 'vm-c']);
  const giveUp = (change: object) =>
    handle.executeUpdate<string, [object]>(messages.abandonDisks, {
      args: [{ incident, instances: ['vm-b'], person: 'jane', ...change }],
    });
  await expect(giveUp({ incident: 'disks/yesterday' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('the one at hand is disks/') },
  });
  await expect(giveUp({ instances: ['vm-b', 'vm-a'] })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('vm-a has no disks on the host') },
  });
  await expect(giveUp({ person: '' })).rejects.toMatchObject({
    cause: { message: expect.stringContaining('Giving up disks is') },
  });
  expect(evacuations(machine)).toEqual(['evacuate a']);
  expect(await giveUp({})).toContain('jane gives up the local disks of vm-b');
  await until(
    'that one to follow',
    patienceMs,
    () => machine.servers['b'] === 'elsewhere' || JSON.stringify(machine.actions),
  );
  await untilObserved(machine, 3);
  expect(evacuations(machine)).toEqual(['evacuate a', 'evacuate b']);
  expect((await progress()).servers).toMatchObject({
    left: [{ name: 'vm-c' }],
    abandoned: [{ id: 'b', person: 'jane' }],
  });
  comeBack(machine, 'boot-2');
  await handle.result();
  await replay();
}, 120_000);

test('a stop in mid-evacuation holds it back however long it lasts, and it goes on by itself when that is lifted', async () => {
  const { machine, handle, progress, replay } = await world.fail('stopped', {
    servers: { a: 'stopped', b: 'stopped' },
    isStopped: true,
  });
  const held = (): number => machine.actions.filter((action) => action === 'stopped').length;
  await until('more requests than attempts', patienceMs, () => held() > 10 || JSON.stringify(machine.actions));
  expect(evacuations(machine)).toEqual([]);
  expect((await progress()).servers).toMatchObject({ total: 2, left: [] });
  expect(machine.condition?.message).toContain('Everything was stopped by jane');
  machine.isStopped = false;
  await until(
    'both to be evacuated',
    patienceMs,
    () => Object.values(machine.servers).every((at) => at === 'elsewhere') || JSON.stringify(machine.actions),
  );
  comeBack(machine, 'boot-2');
  await handle.result();
  await replay();
}, 120_000);

test('an evacuation that fails lets the others pass, and is tried again after pauses that grow, so many times', async () => {
  const { machine, handle, progress, replay } = await world.fail('refused', { servers: { a: 'refused' }, refusals: 2 });
  await until(
    'the first failure',
    patienceMs,
    async () => (await progress()).servers?.retrying.length === 1 || 'not yet',
  );
  expect((await progress()).servers?.retrying).toEqual([
    {
      id: 'a',
      name: 'vm-a',
      why: 'no host has room for it',
      attempts: expect.any(Number),
      at: expect.stringMatching(/Z$/u),
    },
  ]);
  await until(
    'it to be evacuated',
    patienceMs,
    () => machine.servers['a'] === 'elsewhere' || JSON.stringify(machine.actions),
  );
  const [first = 0, second = 0, third = 0] = machine.requestedMs;
  expect(machine.requestedMs).toHaveLength(3);
  // The clock of the run has a resolution of its own.
  expect(second - first).toBeGreaterThanOrEqual(550);
  expect(third - second).toBeGreaterThanOrEqual(1_150);
  comeBack(machine, 'boot-2');
  await handle.result();
  await replay();

  const never = await world.fail('refused-always', { servers: { a: 'refused-always' }, refusals: 100 });
  await until(
    'it to be left',
    patienceMs,
    async () => (await never.progress()).servers?.left.length === 1 || 'not yet',
  );
  await untilObserved(never.machine, 3);
  expect(evacuations(never.machine)).toHaveLength(3);
  expect(never.machine.condition?.message).toContain('left behind: vm-a (no host has room for it)');
  never.machine.refusals = 0;
  await never.handle.executeUpdate(messages.retryNow, { args: [{}] });
  await until('it to be tried once more', patienceMs, () => never.machine.servers['a'] === 'elsewhere' || 'not yet');
  comeBack(never.machine, 'boot-2');
  await never.handle.result();
}, 120_000);

test('while Nova does not answer nothing is begun, and it goes on when it does', async () => {
  const { machine, handle, progress } = await world.fail('blind', { evacuationsEnd: false });
  await until('the first to be on its way', patienceMs, () => evacuations(machine).length === 1 || 'not yet');
  machine.novaSilent = true;
  await untilObserved(machine, 2);
  machine.evacuationsEnd = true;
  await until('it to say so', patienceMs, async () => (await progress()).unread.length > 0 || 'not yet');
  await untilObserved(machine, 3);
  expect(evacuations(machine)).toHaveLength(1);
  machine.novaSilent = false;
  await until(
    'the others to follow',
    patienceMs,
    () => evacuations(machine).length === 3 || JSON.stringify(machine.actions),
  );
  comeBack(machine, 'boot-2');
  await handle.result();
}, 120_000);

test('the hypervisor’s run signals a Node that is not Ready, once, and goes on', async () => {
  const observedWith = (ready: boolean) => {
    const { desired, observed, settings } = contextOf({ highAvailability: true }, { node: nodeOf({ ready }) });
    return {
      kind: 'observed',
      settings: { ...settings, lingerMs: 0 },
      desired,
      observed,
      digest: null,
      retry: null,
    } as const;
  };
  await world.drive('node-1', observedWith(true));
  expect(world.causes).toEqual([]);
  await world.drive('node-1', observedWith(false));
  expect(world.causes).toEqual([expect.stringContaining('Node node-1 is not Ready since')]);
}, 60_000);
