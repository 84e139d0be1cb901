import { isGoRecentEnough } from './go.ts';
import { isSuitable } from './programs.ts';

describe('isSuitable', () => {
  const kubectl = { pattern: /Client Version: v(\S+)/, minor: '1.36' };
  test.each([
    ['Client Version: v1.36.3\nKustomize Version: v5.8.1', true],
    ['Client Version: v1.36.0', true],
    ['Client Version: v1.37.0', false],
    ['Client Version: v1.3.6', false],
    ['Client Version: v1.360.1', false],
    ['command not found', false],
    ['', false],
  ])('%j: %s', (output, expected) => expect(isSuitable(output, kubectl)).toBe(expected));
});

describe('isGoRecentEnough', () => {
  test.each([
    ['go version go1.26.8 linux/amd64', true],
    ['go version go1.26 linux/arm64', true],
    ['go version go1.27rc1 linux/amd64', true],
    ['go version go2.0 linux/amd64', true],
    ['go version go1.25.9 linux/amd64', false],
    ['go version go1.19.8 linux/amd64', false],
    ['go version devel +abc', false],
    ['', false],
  ])('%j: %s', (output, expected) => expect(isGoRecentEnough(output)).toBe(expected));
});
