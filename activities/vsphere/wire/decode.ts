import { fieldsOf, isKindOf, isNumber, type Field } from './schema.ts';
import type { AnyMethodFault, VimTypes } from './vim/types.ts';
import { childOf, parseXml, type XmlElement } from './xml.ts';

const soapNamespace = 'http://schemas.xmlsoap.org/soap/envelope/';
const schemaNamespace = 'http://www.w3.org/2001/XMLSchema';

/** A fault of vSphere, as the answer to a call or as the end of a task. */
export interface VimFault {
  /** `DuplicateName`; its base types: `isKindOf`. */
  type: string;
  /** vCenter's own, on one line; may be empty. */
  words: string;
  /** The fields of it that drover knows. */
  fields: Readonly<Record<string, unknown>>;
}

export type Decoded<Method extends string> = { value: Returned<Method> } | { fault: VimFault };

/** What a method gives back. */
export type Returned<Method extends string> = `${Method}Response` extends keyof VimTypes
  ? VimTypes[`${Method}Response`] extends { returnval?: infer Value }
    ? Value
    : undefined
  : undefined;

/**
 * Reads an answer. Elements that drover does not use are passed over; what it uses must be there.
 *
 * @throws Error in words that follow “the answer”: what is not as the schema says
 */
export function decodeResponse<Method extends keyof VimTypes>(method: Method, text: string): Decoded<Method> {
  const answer = answerOf(method, text);
  if ('fault' in answer) return answer;
  const type = `${method}Response`;
  const value =
    fieldsOf(type) === undefined
      ? undefined
      : (decodeFields(type, answer.response, type)['returnval'] as Returned<Method>);
  return { value: value as Returned<Method> };
}

/**
 * What stands in the envelope.
 *
 * @throws Error as decodeResponse does
 */
export function answerOf(method: string, text: string): { response: XmlElement } | { fault: VimFault } {
  const envelope = parseXml(text);
  const body =
    envelope.namespace === soapNamespace && envelope.name === 'Envelope' ? childOf(envelope, 'Body') : undefined;
  const [answer] = body?.children ?? [];
  if (answer === undefined) throw new Error('it is no SOAP');
  if (answer.name === 'Fault' && answer.namespace === soapNamespace) return { fault: callFault(answer) };
  if (answer.name !== `${method}Response`) throw new Error(`it is a ${answer.name.slice(0, 80)}`);
  return { response: answer };
}

/** `<detail><InvalidLoginFault xsi:type="InvalidLogin"/></detail>`; some proxies and old servers leave the type out. */
function callFault(fault: XmlElement): VimFault {
  const detail = childOf(fault, 'detail')?.children[0];
  const type = detail?.xsiType?.name ?? detail?.name.replace(/Fault$/u, '') ?? '';
  return {
    type: type.slice(0, 80),
    words: oneLine(childOf(fault, 'faultstring')?.text ?? ''),
    fields: detail === undefined || fieldsOf(type) === undefined ? {} : decodeFields(type, detail, type),
  };
}

/** The fault of a task, of a property that cannot be read, and the like. */
export function localizedFault({
  fault,
  localizedMessage = '',
}: {
  fault: AnyMethodFault;
  localizedMessage?: string;
}): VimFault {
  const { $type = 'MethodFault', ...fields } = fault;
  const said = fault.faultMessage?.flatMap(({ message }) => message ?? []).join(' ') ?? '';
  return { type: $type, words: oneLine([localizedMessage, said].filter((words) => words !== '').join(' ')), fields };
}

const oneLine = (text: string): string => text.replaceAll(/\s+/gu, ' ').trim();

function decodeFields(type: string, element: XmlElement, path: string): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const byName = Map.groupBy(element.children, ({ name }) => name);
  for (const field of fieldsOf(type) ?? []) {
    const found = byName.get(field.name) ?? [];
    const [first] = found;
    if (field.isMany) {
      if (first !== undefined)
        result[field.name] = found.map((one) => decodeElement(field, one, `${path}.${field.name}`));
    } else if (first !== undefined) {
      result[field.name] = decodeElement(field, first, `${path}.${field.name}`);
      // Of those without a type of their own it is not known whether they may be missing: a property that is not set
      // has no value.
    } else if (!field.isOptional && field.of !== 'any') {
      throw new Error(`it has no ${path}.${field.name}`);
    }
  }
  return result;
}

function decodeElement(
  { of, isAbstract }: Pick<Field, 'of' | 'isAbstract'>,
  element: XmlElement,
  path: string,
): unknown {
  if (of === 'any') return decodeAny(element, path);
  if (of === 'ref') return reference(element, path);
  if (of === 'string' || of === 'time') return textOf(element, path);
  if (of === 'boolean') return boolean(textOf(element, path), path);
  if (isNumber(of)) return number(textOf(element, path), path);
  const named = element.xsiType?.name ?? of;
  // Of a type that drover does not use, what it shares with the one that was expected is known.
  const type = fieldsOf(named) !== undefined && isKindOf(named, of) ? named : of;
  const fields = decodeFields(type, element, path);
  return isAbstract || named !== of ? { $type: named, ...fields } : fields;
}

function decodeAny(element: XmlElement, path: string): unknown {
  if (element.xsiType === null) throw new Error(`${path} does not say of which type it is`);
  const { namespace, name } = element.xsiType;
  if (namespace === schemaNamespace) return scalar(name, textOf(element, path), path);
  if (name.startsWith('ArrayOf')) return listOf(name.slice('ArrayOf'.length), element, path);
  if (name === 'ManagedObjectReference') return reference(element, path);
  if (fieldsOf(name) !== undefined) return { $type: name, ...decodeFields(name, element, path) };
  // A word of a list of words, such as `poweredOn`, has a type of its own.
  return element.children.length === 0 && element.text !== '' ? element.text : { $type: name };
}

/** `ArrayOfString`, `ArrayOfVirtualDevice`: its elements name their type where it is another one. */
function listOf(item: string, element: XmlElement, path: string): unknown[] {
  const of =
    item === 'ManagedObjectReference'
      ? 'ref'
      : item === 'AnyType'
        ? 'any'
        : item === 'Boolean'
          ? 'boolean'
          : ({ String: 'string', Int: 'int', Long: 'long', Short: 'short', Byte: 'byte', Double: 'double' }[item] ??
            item);
  if (of === 'any' || of === 'ref' || of === 'string' || of === 'boolean' || isNumber(of))
    return element.children.map((child) => decodeElement({ of, isAbstract: false }, child, path));
  return element.children.map((child) =>
    fieldsOf(of) === undefined
      ? { $type: child.xsiType?.name ?? of }
      : decodeElement({ of, isAbstract: true }, child, path),
  );
}

function scalar(name: string, text: string, path: string): unknown {
  if (name === 'boolean') return boolean(text, path);
  return isNumber(name) || name === 'integer' ? number(text, path) : text;
}

/** What stands around an element is not joined: a name that another system wrote would read as one it did not write. */
function textOf({ children, text }: XmlElement, path: string): string {
  if (children.length > 0) throw new Error(`${path} has elements where text is expected`);
  return text;
}

function reference(element: XmlElement, path: string) {
  const { type } = element.attributes;
  const text = textOf(element, path);
  if (type === undefined || text === '') throw new Error(`${path} is no reference`);
  return { type, value: text };
}

function boolean(text: string, path: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new Error(`${path} is no boolean`);
}

function number(text: string, path: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error(`${path} is no number`);
  return value;
}
