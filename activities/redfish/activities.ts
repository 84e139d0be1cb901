import { ApplicationFailure } from '@temporalio/common';

import type { ErrorCode } from '../../contracts/errors.ts';
import type { EnsurePoweredOff, PowerActivities, PowerProof } from '../../contracts/node-failure/power.ts';
import type { Clock } from '../../runtime/clock.ts';
import { droverFailure, failureCode, failureDetail } from '../../runtime/failure.ts';
import type { Audit } from '../../runtime/telemetry/audit.ts';
import { type ActivityScope, currentScope } from '../lib/context.ts';
import { mutate } from '../lib/mutate.ts';
import { whileBeating } from '../lib/wait.ts';
import type { BmcSettings, ComputerSystem, ConnectBmc, RedfishClient } from './types.ts';

/**
 * Activities on the power of hosts. A connection lives as long as one of them: BMCs have room for few, and drop them.
 */
export function createPowerActivities(deps: PowerDependencies): PowerActivities {
  const { clock, connect } = deps;

  const withBmc = async <Result>(
    host: string,
    work: (tools: Tools, client: RedfishClient) => Promise<Result>,
  ): Promise<Result> => {
    const scope = (deps.scope ?? currentScope)(clock);
    return whileBeating(
      { scope, clock },
      () => undefined,
      async () => {
        const client = connect(await deps.bmcOf(host, scope.signal));
        try {
          return await work({ stopGate: deps.stopGate, audit: deps.audit, scope, clock }, client);
        } finally {
          await client.close();
        }
      },
    );
  };

  return {
    observePower: ({ host }) =>
      withBmc(host, async ({ scope }, client) => {
        const { power } = await client.findSystem(scope.signal);
        return { host, power, atMs: clock.now() };
      }),
    ensurePoweredOff: (request) => withBmc(request.host, (tools, client) => ensurePoweredOff(tools, client, request)),
  };
}

/**
 * Makes sure that a host is off, and proves it by two reads of Off with no other answer in between. It reads first, so
 * it may be repeated, and two may run at once. Every read that fails is a failure of the whole: who tries
 * again begins anew.
 *
 * @throws BmcUnreachable, BmcCredentialRefused, SystemNotFound, PowerOffRefused, PowerStillOn, AnswerMalformed, Stopped
 * @see Redfish schema ComputerSystem, PowerState and action Reset
 */
async function ensurePoweredOff(tools: Tools, client: RedfishClient, request: EnsurePoweredOff): Promise<PowerProof> {
  const { clock, scope } = tools;
  const found = await client.findSystem(scope.signal);
  const asked = found.power !== 'Off';
  if (asked) {
    if (!request.mayAsk) throw stillOn(request.host, found, 'though it was off: a user has switched it on again');
    await ask(tools, client, found, request);
  }
  const read = async (): Promise<ComputerSystem> => {
    try {
      return await client.readSystem(found.path, scope.signal);
    } catch (error) {
      throw asked ? afterAsking(request.host, error) : error;
    }
  };
  if (asked) await awaitOff(tools, read, request);
  const firstOffMs = clock.now();
  // A timer may fire a millisecond early by this clock.
  for (let leftMs = request.recheckMs; leftMs > 0; leftMs = firstOffMs + request.recheckMs - clock.now())
    await clock.sleep(leftMs, scope.signal);
  const secondOffMs = clock.now();
  const again = await read();
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
  read: () => Promise<ComputerSystem>,
  { host, pollMs, timeoutMs }: EnsurePoweredOff,
): Promise<void> {
  const untilMs = clock.now() + timeoutMs;
  for (;;) {
    await clock.sleep(pollMs, scope.signal);
    const now = await read();
    if (now.power === 'Off') return;
    if (clock.now() >= untilMs) throw stillOn(host, now, `${timeoutMs / 1_000} s after it was asked to power off`);
  }
}

/** Before the request these say that nothing was done to the host; after it the host may be off. */
const refusedReads: readonly ErrorCode[] = ['BmcCredentialRefused', 'SystemNotFound'];

function afterAsking(host: string, error: unknown): unknown {
  const code = failureCode(error);
  if (!(error instanceof ApplicationFailure) || code === null || !refusedReads.includes(code)) return error;
  return droverFailure(
    'BmcUnreachable',
    `The BMC of ${host} was asked to power it off, and since then its power cannot be read: ${failureDetail(error)}`,
  );
}

const stillOn = (host: string, { power, path }: ComputerSystem, when: string) =>
  droverFailure('PowerStillOn', `The BMC of ${host} reports PowerState ${power} of ${path} ${when}`);

/** What the composition root gives to the activities. */
interface PowerDependencies {
  /** Reads the settings and the credential of a host's BMC, at use. @throws SystemNotFound for a host without one */
  bmcOf: (host: string, signal: AbortSignal) => Promise<BmcSettings>;
  /** Throws Stopped while `drover stop` is in force. Asked before each mutation. */
  stopGate: (signal: AbortSignal) => Promise<void>;
  audit: Audit;
  /** The running activity. Default: Temporal's. */
  scope?: (clock: Clock) => ActivityScope;
  clock: Clock;
  /** Nothing is sent before the first request. @throws InvalidConfiguration */
  connect: ConnectBmc;
}

/** The same, for one execution. */
type Tools = Pick<PowerDependencies, 'stopGate' | 'audit' | 'clock'> & { scope: ActivityScope };
