import type { Condition } from '../../contracts/conditions.ts';
import type { RunProgress } from '../../contracts/runs.ts';
import type { ObjectDescription } from '../command/describe-object.ts';
import type { NextCommand } from '../command/next-commands.ts';
import type { Paint } from './paint.ts';
import { renderRun, renderSteps } from './run.ts';
import { oneLine, renderConditions, renderNextCommands } from './table.ts';
import { untilOf, waitingLine } from './watch.ts';

/** One object of a namespace for people. Pure. */

/** A fact, with its name; null and empty ones are left out. */
export type Field = [name: string, value: string | null];
export interface Section {
  title: string;
  /** None: it is left out. */
  lines: readonly string[];
}

/** What a kind says of an object. */
export interface ShownObject {
  kind: string;
  /** What it is, and since when: the sentence that matters. */
  standing: (paint: Paint) => string;
  says: string;
  fields: readonly Field[];
  sections: readonly Section[];
  commands: readonly NextCommand[];
}

interface Page {
  nowMs: number;
  paint: Paint;
  widthColumns: number;
}

type Described = ObjectDescription<{ conditions: readonly Condition[] }, RunProgress>;

/** Everything about one object, the sentence that matters first, what to type next last. */
export function renderObject(
  description: Described,
  { kind, standing, says, fields, sections, commands }: ShownObject,
  { nowMs, paint, widthColumns }: Page,
): string[] {
  const { namespace, name, object, run, stops, problems } = description;
  const which = oneLine(`${namespace}/${name}`);
  const all: Section[] = [
    ...sections,
    {
      title: `Conditions of ${kind} ${which}`,
      lines: object === null ? [] : renderConditions(object.conditions, nowMs, widthColumns),
    },
    {
      title: run?.status === 'Running' ? 'Steps of the run' : 'Last steps of the last run',
      lines: run === null ? [] : renderSteps(run.steps, nowMs, paint, widthColumns),
    },
    { title: 'Could not be read', lines: problems.map((problem) => paint('warning', oneLine(problem))) },
    { title: 'What you can do', lines: renderNextCommands(commands, paint) },
  ];
  return [
    `${paint('strong', which)}: ${object === null ? unreadable(description, kind, paint) : standing(paint)}`,
    ...renderFields([
      ['says', oneLine(says)],
      ['waiting', waitingOf(run, nowMs)],
      ...fields,
      ['drover stop', stops.length === 0 ? null : paint('bad', stops.map(oneLine).join('; '))],
      ['run', run === null ? null : renderRun(run, nowMs)],
      ['web UI', run?.webUi ?? null],
    ]),
    ...all.flatMap(({ title, lines }) => (lines.length === 0 ? [] : ['', paint('strong', title), ...lines])),
  ];
}

const unreadable = ({ problems, run }: Described, kind: string, paint: Paint): string =>
  paint(
    'warning',
    problems.length > 0 || run === null ? 'the object cannot be read' : `there is no such ${kind} any more`,
  );

function waitingOf(run: Described['run'], nowMs: number): string | null {
  const waiting = run?.progress?.waiting ?? null;
  if (waiting === null) return null;
  return waitingLine(waiting.message, untilOf(waiting), nowMs).replace(/^waiting /u, '');
}

const renderFields = (fields: readonly Field[]): string[] =>
  fields
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `  ${name.padEnd(12)} ${value ?? ''}`);
