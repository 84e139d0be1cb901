import { createLogger, temporalLogger } from './logging.ts';
import { registerSecret } from '../redaction.ts';

function logger(level: 'trace' | 'info' = 'trace') {
  const lines: string[] = [];
  const log = createLogger({ level, component: 'worker', destination: { write: (line) => void lines.push(line) } });
  return {
    log,
    entries: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    text: () => lines.join(''),
  };
}

test('writes JSON lines with level, time and component', () => {
  const { log, entries } = logger('info');
  log.debug('unheard');
  log.info({ host: 'node-1' }, 'Disabled the service');
  expect(entries()).toEqual([
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/u),
      component: 'worker',
      host: 'node-1',
      msg: 'Disabled the service',
    },
  ]);
});

test('nothing secret is written, wherever it stands', () => {
  registerSecret('s3cr3t-value');
  const { log, text, entries } = logger();
  log.info({ headers: { 'x-auth-token': 'tok-1' }, count: 1 }, 'password="tok 1" and s3cr3t-value');
  log.error(new Error('token: tok-1', { cause: new Error('s3cr3t-value') }), 'failed');
  log.child({ password: 'tok-1' }).warn({ nested: { list: ['s3cr3t-value', { secret: 'tok-1' }] }, token: null });
  expect(text()).not.toMatch(/tok-1|tok 1|s3cr3t-value/u);
  expect(entries()).toHaveLength(3);
  expect(entries()[2]).toMatchObject({ password: '[redacted]', token: null });
});

test('serves as the logger of Temporal’s runtime', () => {
  const { log, entries } = logger();
  const temporal = temporalLogger(log);
  temporal.log('WARN', 'through log', { sdkComponent: 'core', [Symbol('hidden')]: 1 });
  temporal.trace('t');
  temporal.debug('d');
  temporal.info('i');
  temporal.warn('w');
  temporal.error('e', { error: new Error('password=abc') });
  expect(entries().map(({ level, msg }) => [level, msg])).toEqual([
    ['warn', 'through log'],
    ['trace', 't'],
    ['debug', 'd'],
    ['info', 'i'],
    ['warn', 'w'],
    ['error', 'e'],
  ]);
  expect(entries()[0]).toMatchObject({ sdkComponent: 'core' });
  expect(JSON.stringify(entries()[5])).toContain('password=[redacted]');
});
