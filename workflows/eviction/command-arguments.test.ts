import { readCommand, type CommandName } from './command-arguments.ts';

const taken: [name: CommandName, given: unknown, read: object][] = [
  ['pause', undefined, {}],
  ['pause', null, {}],
  ['pause', { by: 'jane', reason: 'lunch' }, { by: 'jane', reason: 'lunch' }],
  ['pause', { by: null }, {}],
  ['resume', { by: 'jane', typo: 1 }, { by: 'jane' }],
  ['setParallelism', { parallelism: 0 }, { parallelism: 0 }],
  ['cancelEviction', { abort: true }, { abort: true }],
  ['retryNow', {}, {}],
];
test.each(taken)('%s takes %j', (name, given, read) => expect(readCommand(name, given)).toEqual(read));

const refused: [name: CommandName, given: unknown, words: string][] = [
  ['pause', 'now', 'pause takes a JSON object'],
  ['pause', [], 'pause takes a JSON object'],
  ['pause', { by: { name: 'jane' } }, 'pause: by must be a text of at most 1024 characters'],
  ['pause', { reason: 'x'.repeat(1_025) }, 'pause: reason must be a text of at most 1024 characters'],
  ['skipInstance', {}, 'skipInstance: instance must be a text of at most 1024 characters'],
  ['skipInstance', { instance: ['a'] }, 'skipInstance: instance must be'],
  ['setParallelism', { parallelism: '4' }, 'setParallelism: parallelism must be a whole number'],
  ['setParallelism', JSON.parse('{"__proto__": {"parallelism": 4}}'), 'setParallelism: parallelism must be'],
  ['acceptObstacle', { obstacle: 1 }, 'acceptObstacle: obstacle must be'],
  ['cancelEviction', { abort: 'yes' }, 'cancelEviction: abort must be true or false'],
];
test.each(refused)('%s refuses %j', (name, given, words) => {
  expect(() => readCommand(name, given)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.stringContaining(words) }),
  );
});
