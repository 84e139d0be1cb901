import { whoRuns } from './who.ts';

test.each<[why: string, as: string | undefined, env: NodeJS.ProcessEnv, who: string]>([
  ['--as wins', 'alice', { DROVER_USER: 'bob' }, 'alice'],
  ['then DROVER_USER', undefined, { DROVER_USER: 'bob' }, 'bob'],
  ['then the operating system', undefined, {}, 'root@ops'],
  ['an empty name is none', ' ', { DROVER_USER: '' }, 'root@ops'],
  ['a name is one line', 'a\nb', {}, 'a b'],
  ['and not a novel', 'x'.repeat(500), {}, 'x'.repeat(128)],
])('%s', (_why, as, env, who) => {
  expect(whoRuns(as, env, () => 'root@ops')).toBe(who);
});
