import { mebibytesOf, quantityOf, quantityText } from './quantity.ts';

const rows: [quantity: string | number, value: number | null][] = [
  [5, 5],
  ['5', 5],
  ['1.5', 1.5],
  ['.5', 0.5],
  ['+2', 2],
  ['500m', 0.5],
  ['2k', 2_000],
  ['2M', 2_000_000],
  ['1Ki', 1_024],
  ['1.5Gi', 1.5 * 1024 ** 3],
  ['2Ei', 2 * 1024 ** 6],
  ['1e3', 1_000],
  ['1E3', 1_000],
  ['1E', 1e18],
  ['', null],
  ['five', null],
  ['5 Gi', null],
  ['5GiB', null],
];

test.each(rows)('%s', (quantity, value) => {
  expect(quantityOf(quantity)).toBe(value);
});

test('mebibytes are rounded up', () => {
  expect([mebibytesOf('512Mi'), mebibytesOf('1'), mebibytesOf('1G'), mebibytesOf('x')]).toEqual([512, 1, 954, null]);
});

test.each<[bytes: number, text: string]>([
  [0, '0'],
  [1, '1'],
  [1_024, '1Ki'],
  [1_536, '1536'],
  [512 * 1024 ** 2, '512Mi'],
  [10 * 1024 ** 3, '10Gi'],
  [1024 ** 5, '1Pi'],
])('%d bytes are %s, and back', (bytes, text) => {
  expect(quantityText(bytes)).toBe(text);
  expect(quantityOf(text)).toBe(bytes);
});
