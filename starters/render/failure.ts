import type { NodeFailureProgress } from '../../contracts/node-failure/run.ts';
import type { FailureDescription } from '../node-failure/failure-run.ts';
import type { NextCommand } from '../command/next-commands.ts';
import type { Paint } from './paint.ts';
import { oneLine } from './table.ts';
import { untilOf, waitingLine } from './watch.ts';

/** What is known of a host that seems to have failed, and what became of each server that is not elsewhere. */
export function renderFailure(
  { workflowId, runId, progress }: FailureDescription,
  nowMs: number,
  paint: Paint,
): string[] {
  const run: [string, string] = [
    'run',
    `${workflowId} ${runId}${progress === null ? ', and no worker answers for it' : ''}`,
  ];
  const fields = [...(progress === null ? [] : fieldsOf(progress, nowMs, paint)), run];
  return [
    ...fields
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => `  ${name.padEnd(12)} ${value ?? ''}`),
    ...(progress?.witnesses ?? []).map(
      ({ kind, says, message, since }) =>
        `  witness ${kind}: ${paint(says === 'alive' ? 'good' : says === 'silent' || says === 'off' ? 'bad' : 'warning', says)} since ${since}: ${oneLine(message)}`,
    ),
    ...(progress?.servers?.retrying ?? []).map(
      ({ name, id, why, attempts, at }) =>
        `  ${oneLine(name)} (${id}): attempt ${attempts} failed, ${at === null ? 'again as soon as there is room' : `again at ${at}`}: ${oneLine(why)}`,
    ),
    ...(progress?.servers?.left ?? []).map(
      ({ name, id, why }) => `  ${oneLine(name)} (${id}): ${paint('bad', 'stays')}: ${oneLine(why)}`,
    ),
    ...(progress?.servers?.abandoned ?? []).map(
      ({ name, id, person, at }) => `  ${oneLine(name)} (${id}): ${oneLine(person)} gave up its local disks at ${at}`,
    ),
  ];
}

function fieldsOf(progress: NodeFailureProgress, nowMs: number, paint: Paint): [string, string | null][] {
  const {
    incident,
    bootId,
    mode,
    verdict,
    message,
    gate,
    silence,
    evidence,
    forcedDown,
    waiting,
    problem,
    unread,
    refusal,
    servers,
  } = progress;
  return [
    ['says', oneLine(message)],
    [
      'verdict',
      verdict === null
        ? null
        : paint(
            verdict.verdict === 'healthy' ? 'good' : verdict.verdict === 'watch' ? 'warning' : 'bad',
            `${verdict.verdict}: ${verdict.reason}`,
          ),
    ],
    ['incident', incident],
    ['boot', bootId],
    ['mode', mode],
    ['held back by', gate === null ? null : oneLine(gate)],
    ['not fenced', silence === null ? null : oneLine(silence)],
    ['evidence', evidence === null ? null : oneLine(evidence)],
    ['forced down', forcedDown ? 'yes' : null],
    [
      'waiting',
      waiting === null ? null : waitingLine(waiting.message, untilOf(waiting), nowMs).replace(/^waiting /u, ''),
    ],
    ['problem', problem === null ? null : paint('bad', oneLine(problem))],
    ['not read', unread.length === 0 ? null : paint('warning', unread.map(oneLine).join(' '))],
    ['refused', refusal === null ? null : oneLine(refusal)],
    [
      'servers',
      servers === null
        ? null
        : `${servers.evacuated} of ${servers.total} evacuated, ${servers.evacuating} in flight, ${servers.pending} pending, ${servers.left.length} stay`,
    ],
  ];
}

/** What an operator may type for it, the most likely first. Pure. */
export function failureCommands(host: string, { progress }: FailureDescription): NextCommand[] {
  if (progress === null)
    return [{ command: 'drover doctor', why: 'no worker answers for its failure: see which queue has no worker' }];
  const { confirm, incident, servers } = progress;
  const forDisks = servers?.left.find(({ why }) => why.includes('consent of its own'));
  return [
    ...(confirm === null ? [] : [{ command: confirm, why: 'once you have made sure that it is off and stays off' }]),
    ...(forDisks === undefined || incident === null
      ? []
      : [
          {
            command: `drover abandon-disks ${host} ${forDisks.id} --incident ${incident}`,
            why: `give up the local disks of ${oneLine(forDisks.name)}, so that it may start elsewhere`,
          },
        ]),
  ];
}
