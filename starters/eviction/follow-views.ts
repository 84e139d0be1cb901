import type { EvictionProgress } from '../../contracts/eviction/eviction.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Answer, Ending } from './eviction-facts.ts';
import type { FollowView } from './follow.ts';
import { formatTime } from '../render/duration.ts';
import { oneLine } from '../render/table.ts';
import { describeChanges, renderFrame } from '../render/watch.ts';
import { renderEnding } from '../render/ending.ts';
import type { Terminal } from '../command/terminal.ts';

const cursorUp = (lines: number): string => (lines === 0 ? '' : `\u001b[${String(lines)}A`);
const clearDown = '\u001b[J';

/** A table redrawn in place. */
export function liveView(terminal: Terminal, clock: Clock): FollowView {
  let drawn = 0;
  const redraw = (lines: string[]): void => {
    terminal.draw(`${cursorUp(drawn)}\r${clearDown}${lines.map((line) => `${line}\n`).join('')}`);
    drawn = lines.length;
  };
  const frame = (progress: EvictionProgress): string[] =>
    renderFrame(progress, clock.now(), {
      widthColumns: terminal.widthColumns(),
      heightRows: terminal.heightRows(),
      paint: terminal.paint,
    });
  let last: EvictionProgress | null = null;
  return {
    show(progress) {
      last = progress;
      redraw(frame(progress));
    },
    remark(message) {
      redraw([...(last === null ? [] : frame(last)), terminal.paint('warning', oneLine(message))]);
    },
    end(ending, progress) {
      const final = progress ?? last;
      redraw([...(final === null ? [] : frame(final)), ...renderEnding(ending, terminal.paint)]);
    },
  };
}

/** One line per thing that happens, with its time. */
export function plainView(terminal: Terminal, clock: Clock): FollowView {
  let last: EvictionProgress | null = null;
  const line = (text: string): void => terminal.print(`${formatTime(clock.now())} ${text}`);
  const changes = (progress: Answer): void => {
    if (progress === null) return;
    for (const change of describeChanges(last, progress)) line(change);
    last = progress;
  };
  return {
    show: changes,
    remark: line,
    end(ending, progress) {
      changes(progress);
      for (const text of renderEnding(ending, terminal.paint)) line(text);
    },
  };
}

/** JSON lines: `{time, progress}` whenever something changed, `{time, remark}`, and at last `{time, ending}`. */
export function jsonView(terminal: Terminal, clock: Clock): FollowView {
  let last = '';
  const line = (news: object): void =>
    terminal.print(JSON.stringify({ time: new Date(clock.now()).toISOString(), ...news }));
  const show = (progress: EvictionProgress): void => {
    const text = JSON.stringify(progress);
    if (text !== last) line({ progress });
    last = text;
  };
  return {
    show,
    remark: (remark) => line({ remark }),
    end(ending: Ending, progress: Answer) {
      if (progress !== null) show(progress);
      line({ ending });
    },
  };
}

/** Nothing but the end. */
export const quietView = (terminal: Terminal): FollowView => ({
  show: () => undefined,
  remark: (message) => terminal.remark(message),
  end: (ending) => renderEnding(ending, terminal.paint).forEach((line) => terminal.print(line)),
});
