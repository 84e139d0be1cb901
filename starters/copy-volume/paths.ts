/**
 * Names in a file system are bytes, and need not be text. Each is a string here of which every character is a byte
 * (latin1), so that no name is lost.
 */

/** As the system wants it. */
export const bytesOf = (path: string): Buffer => Buffer.from(path, 'latin1');

/** From the text of a command line. */
export const pathOf = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** For people. */
export const readable = (path: string): string => bytesOf(path).toString('utf8');

export const under = (directory: string, name: string): string => (name === '' ? directory : `${directory}/${name}`);
