import type { EnsurePoweredOff, PowerProof } from '../../contracts/node-failure/power.ts';
import { droverFailure, failureCode } from '../../runtime/failure.ts';
import { mutate } from '../lib/mutate.ts';
import type { Tools } from './dependencies.ts';
import type { ComputerSystem, RedfishClient } from './types.ts';

/**
 * Makes sure that a host is off, and proves it by two reads of Off with no other answer in between. It looks first, so it may be repeated,
 * and two may run at once. Every read that fails is a failure of the whole: who tries again begins anew.
 *
 * @throws BmcUnreachable, BmcCredentialRefused, SystemNotFound, PowerOffRefused, PowerStillOn, AnswerMalformed, Stopped
 * @see Redfish schema ComputerSystem, PowerState and action Reset
 */
export async function ensurePoweredOff(
  tools: Tools,
  client: RedfishClient,
  request: EnsurePoweredOff,
): Promise<PowerProof> {
  const { clock, scope } = tools;
  const found = await client.findSystem(scope.signal);
  const asked = found.power !== 'Off';
  if (asked) {
    await ask(tools, client, found, request);
    await awaitOff(tools, client, found, request);
  }
  const firstOffMs = clock.now();
  // A timer may fire a millisecond early by this clock.
  for (let leftMs = request.recheckMs; leftMs > 0; leftMs = firstOffMs + request.recheckMs - clock.now())
    await clock.sleep(leftMs, scope.signal);
  const secondOffMs = clock.now();
  const again = await client.readSystem(found.path, scope.signal);
  if (again.power !== 'Off') throw stillOn(request.host, again, 'after it had been read Off');
  return { host: request.host, systemPath: found.path, systemUuid: found.uuid, firstOffMs, secondOffMs, asked };
}

async function ask(
  tools: Tools,
  client: RedfishClient,
  system: ComputerSystem,
  { host, cause }: EnsurePoweredOff,
): Promise<void> {
  const { signal } = tools.scope;
  const mutation = {
    action: 'ensurePoweredOff',
    cause,
    object: `host/${host}`,
    before: { power: system.power, system: system.path, uuid: system.uuid },
    after: { requested: 'ForceOff' },
  };
  try {
    await mutate(tools, mutation, () => client.forceOff(system, signal));
  } catch (error) {
    // Some BMCs refuse what is done already, perhaps by another who asked at the same time.
    if (failureCode(error) === 'PowerOffRefused' && (await client.readSystem(system.path, signal)).power === 'Off')
      return;
    throw error;
  }
}

async function awaitOff(
  { clock, scope }: Tools,
  client: RedfishClient,
  { path }: ComputerSystem,
  { host, pollMs, timeoutMs }: EnsurePoweredOff,
): Promise<void> {
  const untilMs = clock.now() + timeoutMs;
  for (;;) {
    await clock.sleep(pollMs, scope.signal);
    const now = await client.readSystem(path, scope.signal);
    if (now.power === 'Off') return;
    if (clock.now() >= untilMs) throw stillOn(host, now, `${timeoutMs / 1_000} s after it was asked to power off`);
  }
}

const stillOn = (host: string, { power, path }: ComputerSystem, when: string) =>
  droverFailure('PowerStillOn', `The BMC of ${host} tells PowerState ${power} of ${path} ${when}`);
