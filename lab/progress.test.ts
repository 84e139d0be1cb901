import { formatDuration, formatPartLine, formatTick, reportStep } from './progress.ts';

describe('formatDuration', () => {
  test.each([
    [0, '0.0 s'],
    [340, '0.3 s'],
    [9949, '9.9 s'],
    [9999, '10 s'],
    [12_400, '12 s'],
    [59_400, '59 s'],
    [60_000, '1 min 00 s'],
    [185_000, '3 min 05 s'],
    [14 * 60_000 + 8000, '14 min 08 s'],
  ])('%d ms is %s', (durationMs, text) => expect(formatDuration(durationMs)).toBe(text));
});

test('a tick names the step, the time so far and the usual time', () => {
  expect(formatTick('building tctl', 45_000, '1 min')).toBe('building tctl: 45 s so far, usually 1 min');
});

test('lines of parts are aligned', () => {
  expect([formatPartLine('tctl', 'ready'), formatPartLine('kubernetes', 'ready')]).toEqual([
    'tctl        ready',
    'kubernetes  ready',
  ]);
});

describe('reportStep', () => {
  test('a short step is silent', async () => {
    const lines: string[] = [];
    expect(
      await reportStep(
        (line) => lines.push(line),
        { title: 'building', usually: '1 min' },
        async () => 'result',
      ),
    ).toBe('result');
    expect(lines).toEqual([]);
  });

  test('a long one says that it starts, goes on and is done', async () => {
    const lines: string[] = [];
    await reportStep(
      (line) => lines.push(line),
      { title: 'building', usually: '1 min', logFile: '/log' },
      () => poll(() => lines.some((line) => line.includes('so far'))),
      { silentMs: 1, tickMs: 20 },
    );
    expect(lines[0]).toBe('building (usually 1 min; log in /log)');
    expect(lines[1]).toMatch(/^building: \d+\.\d s so far, usually 1 min$/);
    expect(lines.at(-1)).toMatch(/^building: done after \d+\.\d s$/);
  });

  test('a failing one says so and passes the failure on', async () => {
    const lines: string[] = [];
    const failing = async () => {
      await poll(() => lines.length > 0);
      throw new Error('broken');
    };
    await expect(
      reportStep((line) => lines.push(line), { title: 'building', usually: '1 min' }, failing, {
        silentMs: 1,
        tickMs: 10_000,
      }),
    ).rejects.toThrow('broken');
    expect(lines.at(-1)).toMatch(/^building: failed after/);
  });
});

async function poll(condition: () => boolean): Promise<void> {
  // The test's own time-out ends it.
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
