import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { withRun } from '../command-run.ts';
import { checkoutDirectory } from '../context.ts';
import type { Drover } from '../drover.ts';
import { startDrover } from '../drover.ts';
import type { Lab } from '../lab.ts';
import { labDirectory, startLab, stopLab, wipeLab } from '../lab.ts';
import type { PartName } from '../part.ts';
import { formatDuration } from '../progress.ts';

/** What a story came to. */
export interface Ending {
  /** A sentence for each thing that is not as it should be. */
  wrong: string[];
  /** One sentence, after `As it should be: `. */
  summary: string;
}

/** Something that drover does, shown on Temporal, Kubernetes and more parts of the lab. */
export interface Story<Name extends PartName> {
  /** What comes first, before anything is there. */
  intro: string;
  /** Besides Temporal and Kubernetes. */
  parts: readonly Name[];
  /** Those that begin anew, whatever they hold. */
  fresh?: readonly PartName[];
  /** Parts that it brings up by itself, to be stopped with the others. */
  more?: readonly PartName[];
  run(lab: Lab<CoreName | Name>, context: StoryContext): Promise<Ending>;
}

type CoreName = 'temporal' | 'kubernetes';

/** What a story has to work with. */
export interface StoryContext {
  interrupted: AbortSignal;
  say: (line?: string) => void;
  /** A step of the story, with the time it took. */
  step: <Result>(title: string, action: () => Promise<Result>) => Promise<Result>;
  /** A worker and a bridge, until the story is over. */
  startDrover: (settings: object) => Promise<Drover>;
  /** `drover`, as a user types it. */
  drover: (...args: string[]) => Promise<void>;
}

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Runs it, sets the exit code, and stops what was started: at its end, or when it is interrupted. */
export async function perform<const Name extends PartName>(story: Story<Name>, options: StoryOptions): Promise<void> {
  const parts: readonly (CoreName | Name)[] = ['temporal', 'kubernetes', ...story.parts];
  const lab = { dir: labDirectory(), stops: [...parts, ...(story.more ?? [])] };
  const last = await withRun({ command: 'npm start', lab, report: say }, ({ signal }) =>
    runStory(parts, story, options, signal),
  );
  say(`\n${last}`);
}

interface StoryOptions {
  /** Ends by itself. */
  once: boolean;
}

async function runStory<const Name extends PartName>(
  parts: readonly (CoreName | Name)[],
  story: Story<Name>,
  { once: isOnce }: StoryOptions,
  interrupted: AbortSignal,
): Promise<string> {
  const startedMs = performance.now();
  say(story.intro);
  if (story.fresh !== undefined) await wipeLab({ parts: story.fresh });
  const lab = await startLab<CoreName | Name>({ parts, report: say, signal: interrupted });
  const core = lab as Lab<PartName> as Lab<CoreName>;
  let drover: Drover | null = null;
  const context: StoryContext = {
    interrupted,
    say,
    async step(title, action) {
      const beganMs = performance.now();
      const result = await action();
      say(formatRemark(`${title}: ${formatDuration(performance.now() - beganMs)}`));
      return result;
    },
    async startDrover(settings) {
      drover = await startDrover(core, { dir: join(lab.dir, 'drover'), settings, signal: interrupted });
      return drover;
    },
    async drover(...args) {
      say(`$ drover ${args.join(' ')}`);
      const child = spawn(process.execPath, [join(checkoutDirectory, 'bin/drover.mjs'), ...args], {
        env: { ...process.env, ...drover?.env, KUBECONFIG: core.handles.kubernetes.kubeconfig },
        stdio: ['ignore', 'inherit', 'inherit'],
        signal: interrupted,
      });
      await once(child, 'exit');
    },
  };
  try {
    const { wrong, summary } = await story.run(lab, context);
    for (const line of wrong) say(`WRONG: ${line}`);
    if (wrong.length > 0) process.exitCode = 1;
    if (!isOnce) {
      say('\nAll of it stays up. Ctrl-C stops it.');
      await stayUp(interrupted);
    }
    return `${wrong.length === 0 ? 'As it should be' : 'Not as it should be'}: ${summary}; ${formatDuration(performance.now() - startedMs)} in all.`;
  } finally {
    await (drover as Drover | null)?.stop();
    await stopLab({ dir: lab.dir, parts: [...parts, ...(story.more ?? [])], report: say });
  }
}

/** Until the signal is aborted. A handler of SIGINT alone keeps no process alive that has no terminal. */
export async function stayUp(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const alive = setInterval(() => undefined, 60_000);
  await once(signal, 'abort');
  clearInterval(alive);
}

/** A line of the demo's own, among those of the lab's parts. */
export const formatRemark = (line: string): string => `${'demo'.padEnd(12)}${line}`;
