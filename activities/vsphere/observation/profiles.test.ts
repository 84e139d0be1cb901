import { openProfiles } from './profiles.ts';

const one = '4d5f673c-536f-11e6-beb8-9e71128cae77';
const other = 'aa6d5a82-1c88-45da-85d3-3d74b91a5bad';
const never = new AbortController().signal;

function opened(answers: (readonly string[] | null | Error)[]) {
  let nowMs = 0;
  let asked = 0;
  const storageProfiles = () => {
    const answer = answers[Math.min(asked, answers.length - 1)] ?? null;
    asked += 1;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    schedule: () => () => undefined,
    sleep: () => Promise.resolve(),
  };
  const profiles = openProfiles({ storageProfiles }, clock);
  return {
    lacks: (id: string, signal = never) => profiles.lacks(id, signal),
    asked: () => asked,
    pass: (ms: number) => (nowMs += ms),
  };
}

test('what vCenter has is asked once in a minute', async () => {
  const { lacks, asked, pass } = opened([[one, other]]);
  expect(await lacks(one)).toBe(false);
  expect(await lacks(other.toUpperCase())).toBe(false);
  expect(asked()).toBe(1);
  pass(60_000);
  expect(await lacks(one)).toBe(false);
  expect(asked()).toBe(2);
});

test('what it does not have is looked for each time, so that it is found as soon as it is there', async () => {
  const { lacks } = opened([[one], [one], [one, other]]);
  expect(await lacks(other)).toBe(true);
  expect(await lacks(other)).toBe(true);
  expect(await lacks(other)).toBe(false);
});

test.each<[what: string, answer: null | Error]>([
  ['does not say', null],
  ['does not answer', new Error('away')],
])('a vCenter that %s lacks none, and is left alone for a minute', async (_, answer) => {
  const { lacks, asked, pass } = opened([answer, [one]]);
  expect(await lacks(other)).toBe(false);
  expect(await lacks(other)).toBe(false);
  expect(asked()).toBe(1);
  pass(60_000);
  expect(await lacks(other)).toBe(true);
});

test('a word of the settings is no profile of vCenter’s', async () => {
  const { lacks, asked } = opened([[one]]);
  expect(await lacks('gold')).toBe(false);
  expect(asked()).toBe(0);
});

test('who gives up is told so', async () => {
  const { lacks } = opened([[one]]);
  await expect(lacks(other, AbortSignal.abort(new Error('given up')))).rejects.toThrow('given up');
});
