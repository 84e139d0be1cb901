import { spreadOf } from './spread.ts';

test.each([
  [[3], { value: 3, min: 3, max: 3, samples: 1 }],
  [[4, 1], { value: 2.5, min: 1, max: 4, samples: 2 }],
  [[9, 1, 2], { value: 2, min: 1, max: 9, samples: 3 }],
  [[4, 3, 2, 1], { value: 2.5, min: 1, max: 4, samples: 4 }],
  [[1.234567], { value: 1.235, min: 1.235, max: 1.235, samples: 1 }],
])('%j', (values, spread) => {
  expect(spreadOf(values)).toEqual(spread);
});

test.each([[[]], [[1, Number.NaN]]])('%j is no measurement', (values) => {
  expect(() => spreadOf(values)).toThrow('nothing was measured');
});
