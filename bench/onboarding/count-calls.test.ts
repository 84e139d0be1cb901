import { countCalls } from './count-calls.ts';

test('calls are summed up by system, whatever was called and whatever came of it', () => {
  const page = [
    '# TYPE drover_outside_calls_total counter',
    'drover_outside_calls_total{system="nova",verb="GET /os-services",outcome="ok"} 12',
    'drover_outside_calls_total{system="nova",verb="GET /servers/{id}",outcome="not_found"} 3',
    'drover_outside_calls_total{system="kubernetes",verb="list nodes",outcome="ok"} 4',
    'drover_outside_call_seconds_count{system="nova",verb="GET /os-services"} 99',
  ].join('\n');
  expect(countCalls(page)).toEqual(new Map([['nova', 12], ['kubernetes', 4]]));
});
