import { demoCommand, readOptions } from './options.ts';

/** What is told of a wrong option. */
function wordsOf(...args: string[]): string {
  let words = '';
  const command = demoCommand()
    .exitOverride()
    .configureOutput({ writeErr: (text) => (words += text) });
  expect(() => readOptions(args, command)).toThrow(/./u);
  return words;
}

test('the whole demo, one story of it, and an end by itself', () => {
  expect(readOptions([])).toEqual({ once: false, only: null });
  expect(readOptions(['--once', '--only', 'vm'])).toEqual({ once: true, only: 'vm' });
  expect(readOptions(['--only=eviction'])).toEqual({ once: false, only: 'eviction' });
});

test('what is no story is told, with those there are', () => {
  expect(wordsOf('--only', 'vms')).toMatch(
    /'--only <story>' argument 'vms' is invalid\. Allowed choices are host, eviction, vm\./u,
  );
  expect(wordsOf('--only')).toMatch(/argument missing/u);
  expect(wordsOf('--onyl', 'vm')).toMatch(/unknown option '--onyl'/u);
  expect(wordsOf('vm')).toMatch(/too many arguments/u);
});
