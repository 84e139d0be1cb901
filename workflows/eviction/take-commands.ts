import { condition, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type { CommandArguments, CommandName } from './command-arguments.ts';
import { readCommand } from './command-arguments.ts';
import { commands, refuse } from './commands.ts';
import type { EvictionRun } from './run.ts';

/**
 * Takes every command both as an update, which answers, and as a signal of the same name, because `tctl` knows no updates. A command
 * that comes before the run has opened its Eviction waits for that.
 */
export function takeCommands(current: () => EvictionRun | null): void {
  for (const name of Object.keys(commands) as CommandName[]) {
    const obey = async (argument: unknown): Promise<string> => {
      await condition(() => current() !== null);
      const run = current();
      if (run === null || run.state.end !== null) return refuse('The eviction has ended. `drover describe` shows how.');
      const answer = carryOut(run, name, readCommand(name, argument));
      run.unpublished = true;
      run.wake();
      return answer;
    };
    setHandler(defineUpdate<string, [unknown]>(name), obey);
    // A signal has nobody to answer: what is refused leaves the run as it was.
    setHandler(defineSignal<[unknown]>(name), (argument) => obey(argument).then(noAnswer, noAnswer));
  }
}

const carryOut = <Name extends CommandName>(run: EvictionRun, name: Name, argument: CommandArguments[Name]): string =>
  commands[name](run, argument, Date.now());

const noAnswer = (): void => undefined;
