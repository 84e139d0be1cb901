import { readLibraryInput } from './input.ts';

test.each([
  [{ library: 'images' }, { library: 'images' }],
  [
    { library: 'images', namespace: 'team-a' },
    { library: 'images', namespace: 'team-a' },
  ],
])('%j', (input, expected) => expect(readLibraryInput(input)).toEqual(expected));

test.each([
  [undefined, /expected object/u],
  [{}, /library: give the name or the id/u],
  [{ library: '' }, /library: must not be empty/u],
  [{ library: 'images', namespace: 'Team' }, /namespace: is no namespace/u],
  [{ library: 'images', vcenter: 'prod' }, /vcenter: unknown field; known are library, namespace/u],
])('%j is refused', (input, message) => {
  expect(() => readLibraryInput(input)).toThrow(
    expect.objectContaining({ type: 'InvalidInput', message: expect.stringMatching(message) }),
  );
});
