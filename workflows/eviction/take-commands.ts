import { condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { commands, refuse } from './commands.ts';
import type { EvictionRun } from './run.ts';

/**
 * Takes every command both as an update, which answers, and as a signal of the same name, because `tctl` knows no updates. A command
 * that comes before the run has opened its Eviction waits for that.
 */
export function takeCommands(current: () => EvictionRun | null): void {
  for (const [name, command] of Object.entries(commands) as [string, (run: EvictionRun, argument: object, nowMs: number) => string][]) {
    const obey = async (argument: unknown): Promise<string> => {
      await condition(() => current() !== null);
      const run = current();
      if (run === null || run.state.end !== null) return refuse('The eviction has ended. `drover describe` shows how.');
      const json: unknown = argument ?? {};
      if (typeof json !== 'object' || json === null) return refuse(`${name} takes a JSON object`);
      const answer = command(run, json, Date.now());
      run.unpublished = true;
      run.wake();
      return answer;
    };
    setHandler(defineUpdate<string, [unknown]>(name), obey);
    // A signal has nobody to answer: what is refused leaves the run as it was.
    setHandler(defineSignal<[unknown]>(name), (argument) => obey(argument).then(noAnswer, noAnswer));
  }
}

const noAnswer = (): void => undefined;
