import * as fc from 'fast-check';
import { InvalidArgumentError } from 'commander';
import type { ErrorCode } from '../../contracts/errors.ts';
import { failureCode } from '../../runtime/failure.ts';
import { rememberSecrets } from '../../runtime/redaction.ts';
import { CommandError } from '../../starters/command/error.ts';
import { exitCodes } from '../../starters/command/exit-codes.ts';

/** A place where something from outside comes in. */
export interface Edge<Input = unknown> {
  name: string;
  inputs: fc.Arbitrary<Input>;
  /** Gives the value, or throws one of the failures. */
  read: (input: Input) => unknown;
  /** `usage`: an argument of the command line that is refused. */
  failures: readonly (ErrorCode | 'usage')[];
  /** It only words failures. */
  takes?: 'nothing';
  /** What every value holds; the default is that it is plain data. */
  holds?: (value: unknown, input: Input) => boolean;
}

/** For tables of edges with inputs of different types. */
export const edge = <Input>(one: Edge<Input>): Edge => one as unknown as Edge;

export interface Tally {
  name: string;
  accepted: number;
  /** By code. */
  refused: Record<string, number>;
  seconds: number;
  /** Of the processor, for the worst input. */
  slowestMs: number;
}

/**
 * Reading takes milliseconds; what takes this long for 100,000 characters goes over them again and again. Of the
 * processor, as tests run side by side.
 */
const mostCpuMs = 1_500;

/** What is slow by its input is slow each time; what only met a collection of garbage or a compiler's thread is not. */
const mostReadings = 3;

/** A failure is read by people and kept in histories. */
const longestMessage = 8_000;

/**
 * Reads `runs` inputs: each gives a value or one of the edge's failures, soon.
 *
 * @param seed decides the inputs
 * @throws fast-check's report with the smallest input that does not
 */
export async function fuzz(one: Edge, runs: number, seed: number): Promise<Tally> {
  const tally: Tally = { name: one.name, accepted: 0, refused: {}, seconds: 0, slowestMs: 0 };
  const startedMs = performance.now();
  const property = fc.asyncProperty(one.inputs, async (input) => {
    let { outcome, cpuMs } = await measure(one, input);
    for (let reading = 1; cpuMs > mostCpuMs && reading < mostReadings; reading += 1)
      ({ outcome, cpuMs } = await measure(one, input));
    tally.slowestMs = Math.max(tally.slowestMs, cpuMs);
    if (outcome === null) tally.accepted += 1;
    else tally.refused[outcome] = (tally.refused[outcome] ?? 0) + 1;
    if (cpuMs > mostCpuMs) throw new Error(`it took ${cpuMs.toFixed(0)} ms of the processor`);
  });
  await fc.assert(property, { numRuns: runs, seed });
  tally.seconds = (performance.now() - startedMs) / 1_000;
  return tally;
}

async function measure(one: Edge, input: unknown): Promise<{ outcome: string | null; cpuMs: number }> {
  const before = process.cpuUsage();
  const outcome = await attempt(one, input);
  const { user, system } = process.cpuUsage(before);
  return { outcome, cpuMs: (user + system) / 1_000 };
}

/** The code of the failure, null for a value. @throws what is neither */
async function attempt(one: Edge, input: unknown): Promise<string | null> {
  const forgetSecrets = rememberSecrets();
  let value: unknown;
  try {
    value = await one.read(input);
  } catch (error) {
    return typedFailure(one, error);
  } finally {
    forgetSecrets();
  }
  if (!(one.holds ?? isPlain)(value, input))
    throw new Error(`it gave a value that is none of its type: ${JSON.stringify(value).slice(0, 400)}`);
  return null;
}

function typedFailure({ failures }: Edge, error: unknown): string {
  const isUsage =
    error instanceof InvalidArgumentError || (error instanceof CommandError && error.exitCode === exitCodes.usage);
  const code = isUsage ? 'usage' : failureCode(error);
  const known = failures.find((one) => one === code);
  if (known === undefined)
    throw new Error(
      `it threw ${error instanceof Error ? `${code ?? error.name}: ${error.message.slice(0, 400)}` : String(error)}`,
      { cause: error },
    );
  const { message } = error as Error;
  if (message.length > longestMessage)
    throw new Error(`its failure has ${message.length} characters: ${message.slice(0, 200)} …`);
  return known;
}

/** Nothing that an object says begins a line of its own, or steers the terminal. */
export const isOfLines = (shown: unknown): boolean =>
  shown === null || (shown as { lines: string[] }).lines.every((line) => !/\p{Cc}/u.test(line));

/** What goes into histories and statuses is JSON. */
function isPlain(value: unknown): boolean {
  JSON.stringify(value);
  return true;
}
