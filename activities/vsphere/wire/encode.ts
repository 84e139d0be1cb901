import { droverFailure } from '../../../runtime/failure.ts';
import { fieldsOf, isKindOf, isNumber, type Field } from './schema.ts';
import { isReference, type ManagedObjectReference } from './values.ts';
import type { VimTypes } from './vim/types.ts';
import { escapeXml, isWritable } from './xml.ts';

const head =
  '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">';

/**
 * A request of vim25 in SOAP. Elements come in the order of the schema, whatever the order of the fields
 * that are given.
 *
 * @param operationId stands in vCenter's own log beside what it did
 * @throws InvalidInput for text that no XML document can hold; TypeError for fields that the schema does not have or
 * that are missing
 */
export function encodeRequest<Method extends keyof VimTypes>(
  method: Method,
  self: ManagedObjectReference,
  args: VimTypes[Method],
  operationId: string | null,
): string {
  const header =
    operationId === null
      ? ''
      : `<soapenv:Header><operationID xmlns="urn:vim25">${plain(operationId, 'the operation id')}</operationID></soapenv:Header>`;
  const body = fieldsText(method, { ...args, _this: self }, method);
  return `${head}${header}<soapenv:Body><${method} xmlns="urn:vim25">${body}</${method}></soapenv:Body></soapenv:Envelope>`;
}

function fieldsText(type: string, value: object, path: string): string {
  const fields = fieldsOf(type);
  if (fields === undefined) throw new TypeError(`${path}: ${type} is not selected`);
  const given = value as Record<string, unknown>;
  for (const name of Object.keys(given))
    if (name !== '$type' && !fields.some((field) => field.name === name))
      throw new TypeError(`${path}: ${type} has no ${name}`);
  return fields.map((field) => fieldText(field, given[field.name], `${path}.${field.name}`)).join('');
}

function fieldText(field: Field, value: unknown, path: string): string {
  if (value === undefined) {
    if (field.isOptional || field.isMany) return '';
    throw new TypeError(`${path} is missing`);
  }
  if (!field.isMany) return elementText(field, value, path);
  if (!Array.isArray(value)) throw new TypeError(`${path} is no list`);
  return value.map((item) => elementText(field, item, path)).join('');
}

function elementText({ name, of, isAbstract }: Field, value: unknown, path: string): string {
  if (of === 'any') return anyText(name, value, path);
  if (of === 'ref') {
    if (!isReference(value)) throw new TypeError(`${path} is no reference`);
    return `<${name} type="${plain(value.type, path)}">${plain(value.value, path)}</${name}>`;
  }
  if (typeof value !== 'object' || value === null) return `<${name}>${scalarText(of, value, path)}</${name}>`;
  const type = typeName(value) ?? of;
  if (!isKindOf(type, of)) throw new TypeError(`${path}: ${type} is no ${of}`);
  return `<${name}${isAbstract || type !== of ? ` xsi:type="${type}"` : ''}>${fieldsText(type, value, path)}</${name}>`;
}

const typeName = (value: object): string | undefined =>
  '$type' in value && typeof value.$type === 'string' ? value.$type : undefined;

function scalarText(of: string, value: unknown, path: string): string {
  const isRight = isNumber(of)
    ? typeof value === 'number' && Number.isFinite(value)
    : of === 'boolean'
      ? typeof value === 'boolean'
      : (of === 'string' || of === 'time') && typeof value === 'string';
  if (!isRight) throw new TypeError(`${path} is no ${of}`);
  return plain(String(value), path);
}

function anyText(name: string, value: unknown, path: string): string {
  if (typeof value === 'string') return `<${name} xsi:type="xsd:string">${plain(value, path)}</${name}>`;
  if (typeof value === 'boolean') return `<${name} xsi:type="xsd:boolean">${value}</${name}>`;
  if (typeof value === 'number' && Number.isFinite(value))
    return `<${name} xsi:type="xsd:${numberType(value)}">${value}</${name}>`;
  throw new TypeError(`${path}: nothing is known of how to write a ${typeof value}`);
}

function numberType(value: number): 'int' | 'long' | 'double' {
  if (!Number.isInteger(value)) return 'double';
  return Math.abs(value) < 2 ** 31 ? 'int' : 'long';
}

function plain(text: string, path: string): string {
  // The text itself may be a secret, such as a guest's user data.
  if (!isWritable(text))
    throw droverFailure('InvalidInput', `${path} holds a character that cannot be sent to vCenter`);
  return escapeXml(text);
}

/** One object as a document of its own, such as other services of vCenter take it. @throws as encodeRequest */
export const encodeObject = <Name extends keyof VimTypes>(type: Name, value: VimTypes[Name]): string =>
  `<obj xmlns:vim25="urn:vim25" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema" xsi:type="vim25:${type}">${fieldsText(type, value, type)}</obj>`;
