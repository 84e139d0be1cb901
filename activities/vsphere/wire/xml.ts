import { SaxesParser } from 'saxes';

/** An element with its namespaces resolved. */
export interface XmlElement {
  namespace: string;
  /** Without a prefix. */
  name: string;
  /** `type` of XML Schema's instance namespace, without the prefix and with the namespace that it stood for. */
  xsiType: { namespace: string; name: string } | null;
  /** Attributes without a namespace. */
  attributes: Readonly<Record<string, string>>;
  children: XmlElement[];
  /** All of its own text. */
  text: string;
}

const instanceNamespace = 'http://www.w3.org/2001/XMLSchema-instance';

/** Deeper than anything that vCenter says: faults that cause each other are the deepest. */
const mostDepth = 100;

/**
 * Reads a document.
 *
 * @throws Error where it is no well-formed XML with namespaces, declares a document type, or is deeper than an answer
 * can be
 */
export function parseXml(text: string): XmlElement {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const path: XmlElement[] = [];
  let root: XmlElement | null = null;
  parser.on('doctype', () => {
    throw new Error('it declares a document type');
  });
  parser.on('opentag', ({ uri, local, attributes }) => {
    const element: XmlElement = { namespace: uri, name: local, xsiType: null, attributes: {}, children: [], text: '' };
    const plain: Record<string, string> = {};
    for (const attribute of Object.values(attributes)) {
      if (attribute.uri === '') plain[attribute.local] = attribute.value;
      else if (attribute.uri === instanceNamespace && attribute.local === 'type')
        element.xsiType = qualifiedName(attribute.value, (prefix) => parser.resolve(prefix));
    }
    element.attributes = plain;
    path.at(-1)?.children.push(element);
    root ??= element;
    path.push(element);
    if (path.length > mostDepth) throw new Error(`it is nested deeper than ${mostDepth} elements`);
  });
  parser.on('closetag', () => void path.pop());
  const add = (more: string): void => {
    const element = path.at(-1);
    if (element !== undefined) element.text += more;
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.write(text).close();
  if (root === null) throw new Error('it is empty');
  return root;
}

function qualifiedName(
  value: string,
  resolve: (prefix: string) => string | undefined,
): { namespace: string; name: string } {
  const [first = '', second] = value.trim().split(':');
  return second === undefined
    ? { namespace: resolve('') ?? '', name: first }
    : { namespace: resolve(first) ?? '', name: second };
}

export const childOf = (element: XmlElement | undefined, name: string): XmlElement | undefined =>
  element?.children.find((child) => child.name === name);

/** Text as it stands within an element. A carriage return that is not written as a reference is lost on the way. */
export const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"\r]/gu, (letter) => references[letter] ?? letter);

const references: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };

/** What no XML document can hold, not even as a reference. */
export const isWritable = (text: string): boolean =>
  text.isWellFormed() && !/[^\t\n\r\u0020-\ufffd\u{10000}-\u{10ffff}]/u.test(text);
