import { sampleContext, paper } from '../../test/fixtures/starters/context.ts';
import { lifecycle, sampleHypervisor } from '../../test/fixtures/starters/hypervisor.ts';
import { exitCodes } from '../command/exit-codes.ts';
import type { Target } from './await-state.ts';
import type { HypervisorObject } from './hypervisor-objects.ts';
import { waitFor } from './send-hypervisor.ts';

const target: Target = { state: 'Decommissioned', asked: () => 'yes' };
const said = (...condition: Parameters<typeof lifecycle>): HypervisorObject =>
  sampleHypervisor({ maintenance: 'termination', conditions: [lifecycle(...condition)] });
const blocked = said('Evicting', 'False', 'allocations are left');

/** What each reading finds, and the last one from then on; null: kube-apiserver is away. */
async function wait(readings: (HypervisorObject | null)[], unanswered: HypervisorObject | null) {
  const terminal = paper();
  let nowMs = 0;
  const clock = { now: () => nowMs, sleep: async (ms: number) => void (nowMs += ms) };
  const context = { ...sampleContext(terminal), clock: clock as never };
  const left = [...readings];
  const source = {
    async hypervisor() {
      const found = left.length > 1 ? left.shift() : left[0];
      if (found === null || found === undefined) throw new Error('kube-apiserver is away');
      return found;
    },
    eviction: async () => null,
  };
  const abort = new AbortController().signal;
  await waitFor(source, target, 'node-1', { timeoutMs: 60_000, abort, context, unanswered });
  return { code: context.exitCode, terminal };
}

const onItsWay = said('Evicting', 'Unknown', 'allocations are deleted');
const gone = said('Decommissioned', 'True');

test('what was said before a consent ends no wait', async () => {
  const { code, terminal } = await wait([blocked, null, blocked, onItsWay, gone], blocked);
  expect(code).toBe(exitCodes.ok);
  expect(terminal.stdout).toBe('Decommissioned: Decommissioned it is\n');
});

test('what is said after it does, or that nothing is', async () => {
  const { code, terminal } = await wait([blocked, said('Evicting', 'False', 'a server is left')], blocked);
  expect(code).toBe(exitCodes.failed);
  expect(terminal.stdout).toBe('Evicting: a server is left\n');
  expect(await wait([blocked], blocked)).toMatchObject({
    code: exitCodes.failed,
    terminal: { stderr: expect.stringMatching(/^No run has said anything of it yet/u) },
  });
});

test('what is said of a new spec is known by its generation', async () => {
  expect(await wait([blocked], null)).toMatchObject({ code: exitCodes.failed });
});
