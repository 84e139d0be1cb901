import { demoCommand, readOptions } from './options.ts';

/** What is printed for a wrong option. */
function wordsOf(...args: string[]): string {
  let output = '';
  const command = demoCommand()
    .exitOverride()
    .configureOutput({ writeErr: (text) => (output += text) });
  expect(() => readOptions(args, command)).toThrow(/./u);
  return output;
}

test('the whole demo, one story of it, and an end by itself', () => {
  expect(readOptions([])).toEqual({ once: false, only: null });
  expect(readOptions(['--once', '--only', 'vm'])).toEqual({ once: true, only: 'vm' });
  expect(readOptions(['--only=eviction'])).toEqual({ once: false, only: 'eviction' });
});

test('an unknown story is refused with the list of stories', () => {
  expect(wordsOf('--only', 'vms')).toMatch(
    /'--only <story>' argument 'vms' is invalid\. Allowed choices are host, eviction, vm, sweep, pool, clone\./u,
  );
  expect(wordsOf('--only')).toMatch(/argument missing/u);
  expect(wordsOf('--onyl', 'vm')).toMatch(/unknown option '--onyl'/u);
  expect(wordsOf('vm')).toMatch(/too many arguments/u);
});
