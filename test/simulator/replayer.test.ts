import { Worker } from '@temporalio/worker';
import { quietTemporal } from '../quiet-temporal.ts';
import { createSampleActivities } from './samples/activities.ts';
import { bundleSamples } from './samples/bundle.ts';
import { scenarios } from './samples/scenarios.ts';
import type { SimulationOptions } from './simulation.ts';
import { createSimulation } from './simulation.ts';
import type { WorkflowBundle } from './temporal/sdk.ts';
import { loadBundle } from './temporal/sdk.ts';

/** The histories that the simulator writes, judged by Temporal's own replayer. */

type Histories = ReturnType<ReturnType<typeof createSimulation>['histories']>;

let code: string;
let bundle: WorkflowBundle;
beforeAll(async () => {
  quietTemporal();
  code = await bundleSamples();
  bundle = await loadBundle(code);
}, 1_800_000);

const modes: Record<string, () => Partial<SimulationOptions>> = {
  'from the cache': () => ({}),
  'each task replayed': () => ({ onWorkflowTask: () => 'evict' }),
  'the worker dies now and then'() {
    let task = 0;
    return { onWorkflowTask: () => ((task += 1) % 5 === 0 ? 'kill' : 'keep') };
  },
};

/** @param isMeant tells histories that show what they are to show */
async function simulate(options: Partial<SimulationOptions>, seeds: readonly number[]): Promise<Histories> {
  const histories: Histories = [];
  for (const { name, run } of scenarios) {
    for (const seed of seeds) {
      const activities = createSampleActivities([]);
      const simulation = createSimulation({
        bundle,
        seed,
        serve: () => [{ taskQueue: 'samples', activities }],
        ...options,
      });
      const { client, clock } = simulation;
      const server = { client, taskQueue: 'samples', sleep: (ms: number) => clock.sleep(ms) };
      await simulation.run(
        run(server, (part = '') => `${name}${part}`),
        3_600_000,
      );
      histories.push(...simulation.histories());
      simulation.close();
    }
  }
  return histories;
}

async function refusals(histories: Histories, by = code): Promise<string[]> {
  const refused: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { code: by } }, histories)) {
    if (error !== undefined) refused.push(`${workflowId}: ${error.message}`);
  }
  return refused;
}

test.each(Object.entries(modes))(
  'it takes all of them (%s)',
  async (_, options) => {
    const histories = await simulate(options(), [1, 2, 3]);
    expect(histories.length).toBeGreaterThan(scenarios.length * 3);
    expect(await refusals(histories)).toEqual([]);
  },
  1_800_000,
);

test('it refuses those of a workflow of which one call is exchanged', async () => {
  const histories = (await simulate({}, [1])).filter(({ workflowId }) => workflowId === 'patches');
  expect(code).toContain("note('second')");
  expect(await refusals(histories, code.replaceAll("note('second')", "sleep('second')"))).toHaveLength(1);
}, 1_800_000);
