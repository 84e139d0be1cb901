import { countCalls, countVerbs } from './count-calls.ts';

const page = [
  '# TYPE drover_outside_calls_total counter',
  'drover_outside_calls_total{system="nova",verb="GET /os-services",outcome="ok"} 12',
  'drover_outside_calls_total{system="nova",verb="GET /servers/{id}",outcome="not_found"} 3',
  'drover_outside_calls_total{system="kubernetes",verb="list nodes",outcome="ok"} 4',
  'drover_outside_call_seconds_count{system="nova",verb="GET /os-services"} 99',
].join('\n');

test('calls are summed up by system, whatever was called and whatever came of it', () => {
  expect(countCalls(page)).toEqual(
    new Map([
      ['nova', 15],
      ['kubernetes', 4],
    ]),
  );
});

test('and those of one system by what was called', () => {
  expect(countVerbs(page, 'nova')).toEqual(
    new Map([
      ['GET /os-services', 12],
      ['GET /servers/{id}', 3],
    ]),
  );
});
