import { labClock, setLabClock } from '../../../lab/clock.ts';
import { drive } from '../../fakes/drive.ts';
import { randomOf } from '../../faults/random.ts';
import { createVirtualClock } from '../clock.ts';
import { passTime } from './flow-world.ts';
import type { Simulation } from '../simulation.ts';

afterEach(() => setLabClock(null));

/** A simulation of nothing but time, until it is broken by `failure`. */
function pass(failure: Promise<never>): ReturnType<typeof passTime> {
  const clock = createVirtualClock(0, randomOf(1));
  const run = <Result>(until?: Promise<Result>): Promise<Result | undefined> =>
    drive(clock, Promise.race([until, failure]));
  return passTime({ simulation: { clock, run } as Simulation });
}

test('a test sleeps in virtual time, until its own signal ends that', async () => {
  const stop = pass(new Promise<never>(() => undefined));
  await labClock().sleep(3_600_000);
  expect(labClock().now()).toBeGreaterThanOrEqual(3_600_000);
  const own = new AbortController();
  const asleep = labClock().sleep(1e12, own.signal);
  own.abort(new Error('awake'));
  await expect(asleep).rejects.toThrow('awake');
  await stop();
});

test('what breaks the simulation is thrown to all that sleep, and that go to sleep later', async () => {
  const broken = Promise.withResolvers<never>();
  const stop = pass(broken.promise);
  const asleep = [labClock().sleep(1e12), labClock().sleep(1e12, new AbortController().signal)];
  broken.reject(new Error('an activity was left unhandled'));
  for (const sleep of asleep) await expect(sleep).rejects.toThrow('an activity was left unhandled');
  await expect(labClock().sleep(1)).rejects.toThrow('an activity was left unhandled');
  await expect(stop()).rejects.toThrow('an activity was left unhandled');
});
