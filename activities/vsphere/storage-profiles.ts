import { droverFailure } from '../../runtime/failure.ts';
import { vimFailure } from './faults.ts';
import type { SoapAnswer } from './http.ts';
import { answerOf } from './wire/decode.ts';
import { childOf, escapeXml, type XmlElement } from './wire/xml.ts';

/** A call of SPBM. */
export interface ProfileRequest {
  method: string;
  /** @param cookie of the session of vim25: SPBM wants it in the envelope */
  body: (cookie: string) => string;
}

export type SendToProfiles = (request: ProfileRequest) => Promise<SoapAnswer>;

interface Reference {
  type: string;
  value: string;
}

const serviceInstance: Reference = { type: 'PbmServiceInstance', value: 'ServiceInstance' };

/**
 * Ids of all storage profiles that this vCenter has, those of vSAN and encryption among them. Null: it serves no
 * SPBM, or does not show them to drover's user (`StorageProfile.View`).
 *
 * @throws VsphereUnavailable, AnswerMalformed, and what faults mean
 * @see vSphere Storage Policy SDK, “PbmQueryProfile”
 */
export async function readStorageProfiles(vcenter: string, send: SendToProfiles): Promise<string[] | null> {
  const content = await ask(vcenter, send, 'PbmRetrieveServiceContent', serviceInstance, '');
  if (content === null) return null;
  const manager = childOf(childOf(content, 'returnval'), 'profileManager');
  const type = manager?.attributes['type'];
  if (manager === undefined || type === undefined)
    throw malformed(vcenter, 'PbmRetrieveServiceContent', 'it names no profile manager');
  const wanted = '<resourceType><resourceType>STORAGE</resourceType></resourceType>';
  const profiles = await ask(vcenter, send, 'PbmQueryProfile', { type, value: manager.text }, wanted);
  if (profiles === null) return null;
  const ids = profiles.children
    .filter(({ name }) => name === 'returnval')
    .map((profile) => {
      const id = childOf(profile, 'uniqueId')?.text ?? '';
      if (id === '') throw malformed(vcenter, 'PbmQueryProfile', 'a profile has no id');
      return id;
    });
  // vCenter brings some along: that there is none says only that they are not shown.
  return ids.length === 0 ? null : ids;
}

async function ask(
  vcenter: string,
  send: SendToProfiles,
  method: string,
  self: Reference,
  args: string,
): Promise<XmlElement | null> {
  const request: ProfileRequest = {
    method,
    body: (cookie) =>
      '<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/">' +
      `<soapenv:Header><vcSessionCookie>${escapeXml(sessionOf(cookie))}</vcSessionCookie></soapenv:Header>` +
      `<soapenv:Body><${method} xmlns="urn:pbm"><_this type="${escapeXml(self.type)}">${escapeXml(self.value)}</_this>${args}</${method}></soapenv:Body></soapenv:Envelope>`,
  };
  const answer = await send(request);
  if (answer.status === 404) return null;
  if (answer.status !== 200 && answer.status !== 500)
    throw droverFailure(
      [408, 429].includes(answer.status) || answer.status > 500 ? 'VsphereUnavailable' : 'AnswerMalformed',
      `vCenter ${vcenter} answered ${answer.status} to ${method}, and no SOAP`,
    );
  const read = decoded(vcenter, method, answer);
  if (!('fault' in read)) return read.response;
  if (read.fault.type === 'NoPermission') return null;
  throw vimFailure(read.fault, `vCenter ${vcenter} answered ${method}`);
}

/** `vmware_soap_session="52a4…"`: the value alone. */
const sessionOf = (cookie: string): string => cookie.slice(cookie.indexOf('=') + 1).replaceAll('"', '');

function decoded(vcenter: string, method: string, { status, text }: SoapAnswer): ReturnType<typeof answerOf> {
  try {
    return answerOf(method, text);
  } catch (error) {
    if (status === 500)
      throw droverFailure('VsphereUnavailable', `vCenter ${vcenter} answered 500 to ${method}, and no SOAP`);
    throw malformed(vcenter, method, error instanceof Error ? error.message : String(error));
  }
}

const malformed = (vcenter: string, method: string, what: string) =>
  droverFailure(
    'AnswerMalformed',
    `The answer of vCenter ${vcenter} to ${method} cannot be read: ${what.slice(0, 300)}`,
  );
