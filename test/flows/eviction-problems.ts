import type { ErrorCode } from '../../contracts/errors.ts';
import { errors } from '../../contracts/errors.ts';
import { checkInvariants } from '../invariants.ts';
import type { World } from './world.ts';

/** What keeps an eviction from going on, from its first sign until it is cured. */

/** The error shows in the Eviction and in `drover describe`; Nova is not changed. */
export async function expectProblem(world: World, host: string, code: ErrorCode, fromMs: number): Promise<void> {
  const advice = expect.stringContaining(errors[code].advice) as string;
  const shown = await world.untilReason(host, 'Running', { says: new RegExp(`${errors[code].reason}: `, 'u') });
  expect(shown.status?.conditions?.[0]).toMatchObject({ type: 'Evicting', status: 'True', message: advice });
  expect(await world.mutations(fromMs, { hosts: [host] })).toEqual([]);
  expect(await world.progress(host)).toMatchObject({ waitingFor: advice, nextWakeUp: expect.any(String) });
}

/** When it is cured, it goes on: at once, because a user retries it, unless it has ended before. */
export async function expectCured(world: World, ...hosts: string[]): Promise<void> {
  const stdout = expect.stringMatching(
    /Trying again: |not waiting to try again|is tried again|it tries now/u,
  ) as string;
  for (const host of hosts) expect(await world.command('retry', host)).toMatchObject({ code: 0, stdout });
  for (const host of hosts) {
    await world.untilReason(host, 'Succeeded');
    await world.untilClosed(host);
    expect(await world.serversOn(host)).toEqual([]);
  }
  await checkInvariants(world, hosts);
}
