import { createHmac } from 'node:crypto'
import { Secret } from '@backstop/kit/config'
import { describe, expect, test } from 'vitest'
import { prepareUsable } from '../../test/credentials.ts'
import { authenticate, prepareSecret } from './authenticate.ts'

/** A test vector that stripe-node 23.1.0 and node:crypto sign alike. */
const SECRET = 'whsec_test_vector_secret'
const BODY = Buffer.from('{"id":"evt_1","object":"event","note":"café 😀"}')
const T = 1_700_000_000
const V1 = '32517937c5b08d3176984cb50d71c67d0e0918ef920fd503ff1cedbf44e4ebe9'

const BAD = '0'.repeat(64)
const secrets = [prepareUsable({ prepareSecret }, SECRET)]
const check = (header: string | string[], { body = BODY, nowS = T, keys = secrets } = {}) =>
  authenticate({ headerValues: [header].flat(), body, nowMs: nowS * 1000 }, keys)
/** Signs a body with any text in place of the time. */
const signed = (text: string, body = BODY, secret = SECRET) =>
  createHmac('sha256', secret).update(`${text}.`).update(body).digest('hex')
const authentic = (ageS = 0) => ({ kind: 'authentic', secretIndex: 0, ageS })
const refused = (reason: string) => ({ kind: 'refused', reason })

describe("the processor's signature", () => {
  test('accepts the published vector', () => {
    expect(check(`t=${T},v1=${V1}`)).toEqual(authentic())
  })

  test.each([
    // `sdk` is the result of stripe-node 23.1.0, `expected` is the result that Backstop must give.
    { name: 'the good v1 first, beside a v0', sdk: 'accepts', header: `t=${T},v1=${V1},v1=${BAD},v0=${BAD}` },
    { name: 'the good v1 last, after bad ones', sdk: 'accepts', header: `t=${T},v1=${BAD},v1=${BAD},v1=${V1}` },
    { name: 't after the signature', sdk: 'not tried', header: `v1=${V1},t=${T}` },
    { name: 'unknown names and a bare word', sdk: 'not tried', header: `t=${T},v9=x,word,v1=${V1},=` },
    { name: 'a word that begins like t', sdk: 'not tried', header: `tx,t=${T},v1=${V1}` },
    { name: 'a value without a name', sdk: 'not tried', header: `=t,t=${T},v1=${V1}` },
    { name: 'exactly 4 KiB', sdk: 'not tried', header: `t=${T},v1=${V1},x=`.padEnd(4096, 'y') },
    { name: 'an empty v1 before the good one', sdk: 'throws a plain Error', header: `t=${T},v1=,v1=${V1}` },
    { name: 'a v1 of another shape before the good one', sdk: 'not tried', header: `t=${T},v1=zz,v1=${V1}` },
  ])('accepts $name (SDK: $sdk)', ({ header }) => {
    expect(check(header)).toEqual(authentic())
  })

  test.each([
    { name: 'a blank after the comma', sdk: 'rejects', header: `t=${T}, v1=${V1}`, reason: 'signature_missing' },
    { name: 'a blank before t', sdk: 'rejects', header: ` t=${T},v1=${V1}`, reason: 'timestamp_missing' },
    { name: 'upper-case hex', sdk: 'rejects', header: `t=${T},v1=${V1.toUpperCase()}`, reason: 'signature_missing' },
    { name: 'no t', sdk: 'rejects', header: `v1=${V1}`, reason: 'timestamp_missing' },
    { name: 'no v1', sdk: 'rejects', header: `t=${T}`, reason: 'signature_missing' },
    { name: 'the signature as v0 only', sdk: 'not tried', header: `t=${T},v0=${V1}`, reason: 'signature_missing' },
    { name: 'a bare t', sdk: 'not tried', header: `t,v1=${V1}`, reason: 'timestamp_malformed' },
    { name: 'an empty t', sdk: 'rejects', header: `t=,v1=${V1}`, reason: 'timestamp_malformed' },
    {
      name: 't=abc, signed over NaN',
      sdk: 'ACCEPTS',
      header: `t=abc,v1=${signed('NaN')}`,
      reason: 'timestamp_malformed',
    },
    {
      name: 't=abc, signed over abc',
      sdk: 'not tried',
      header: `t=abc,v1=${signed('abc')}`,
      reason: 'timestamp_malformed',
    },
    { name: 'a number with letters as t', sdk: 'ACCEPTS', header: `t=${T}xyz,v1=${V1}`, reason: 'timestamp_malformed' },
    {
      name: 'a negative t',
      sdk: 'not tried',
      header: `t=-1,v1=${signed('-1')}`,
      reason: 'timestamp_malformed',
    },
    {
      name: 't in milliseconds',
      sdk: 'not tried',
      header: `t=${T}000,v1=${signed(`${T}000`)}`,
      reason: 'timestamp_malformed',
    },
    { name: 'two t, the last one good', sdk: 'last wins', header: `t=1,t=${T},v1=${V1}`, reason: 'timestamp_repeated' },
    { name: 'two equal t', sdk: 'not tried', header: `t=${T},t=${T},v1=${V1}`, reason: 'timestamp_repeated' },
    { name: 'an empty v1 alone', sdk: 'throws a plain Error', header: `t=${T},v1=`, reason: 'signature_missing' },
    { name: 'a v1 one digit short', sdk: 'not tried', header: `t=${T},v1=${V1.slice(1)}`, reason: 'signature_missing' },
    { name: 'a v1 one digit long', sdk: 'not tried', header: `t=${T},v1=${V1}0`, reason: 'signature_missing' },
    { name: 'only bad v1', sdk: 'not tried', header: `t=${T},v1=${BAD},v1=${BAD}`, reason: 'signature_mismatch' },
    { name: 'another separator', sdk: 'not tried', header: `t=${T};v1=${V1}`, reason: 'timestamp_malformed' },
    {
      name: 'the header twice',
      sdk: 'throws a plain Error',
      header: [`t=${T},v1=${V1}`, `t=${T},v1=${V1}`],
      reason: 'credential_repeated',
    },
    { name: 'no header', sdk: 'not tried', header: [], reason: 'credential_missing' },
    { name: 'an empty header', sdk: 'not tried', header: '', reason: 'credential_missing' },
    {
      name: '17 signatures with the good one among them',
      sdk: 'not tried',
      header: `t=${T},${`v1=${BAD},`.repeat(16)}v1=${V1}`,
      reason: 'too_many_signatures',
    },
    {
      name: 'more than 4 KiB',
      sdk: 'not tried',
      header: `t=${T},v1=${V1},x=${'y'.repeat(4096)}`,
      reason: 'credential_too_long',
    },
  ])('refuses $name (SDK: $sdk)', ({ header, reason }) => {
    expect(check(header)).toEqual(refused(reason))
  })

  test('accepts 16 signatures', () => {
    expect(check(`t=${T},${`v1=${BAD},`.repeat(15)}v1=${V1}`)).toEqual(authentic())
  })

  test.each([
    { name: '300 s old', sdk: 'accepts', nowS: T + 300, expected: authentic(300) },
    { name: '301 s old', sdk: 'rejects', nowS: T + 301, expected: refused('timestamp_too_old') },
    {
      name: '300.999 s old, which is 300 whole seconds',
      sdk: 'not tried',
      nowS: T + 300.999,
      expected: authentic(300),
    },
    { name: '300 s ahead', sdk: 'not tried', nowS: T - 300, expected: authentic(-300) },
    { name: '301 s ahead', sdk: 'not tried', nowS: T - 301, expected: refused('timestamp_in_future') },
    { name: 'one day ahead', sdk: 'ACCEPTS', nowS: T - 86_400, expected: refused('timestamp_in_future') },
  ])('decides a signature that is $name (SDK: $sdk)', ({ nowS, expected }) => {
    expect(check(`t=${T},v1=${V1}`, { nowS })).toEqual(expected)
  })

  test('reports a wrong signature before an old time, because the time is unproven without the signature', () => {
    expect(check(`t=${T},v1=${BAD}`, { nowS: T + 9999 })).toEqual(refused('signature_mismatch'))
  })

  const BOM = Buffer.from([0xef, 0xbb, 0xbf])
  const withBom = Buffer.concat([BOM, BODY])
  const notUtf8 = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
  test.each([
    // The signature covers bytes, so it is authentic even if the bytes are no JSON object. Ingress refuses such events as
    // malformed.
    { name: 'bytes with a BOM', sdk: 'rejects', body: withBom, over: withBom, expected: authentic() },
    { name: 'bytes that are no UTF-8', sdk: 'rejects', body: notUtf8, over: notUtf8, expected: authentic() },
    { name: 'the body []', sdk: 'accepts', body: Buffer.from('[]'), over: Buffer.from('[]'), expected: authentic() },
    {
      name: 'the body null',
      sdk: 'accepts',
      body: Buffer.from('null'),
      over: Buffer.from('null'),
      expected: authentic(),
    },
    { name: 'an empty body', sdk: 'not tried', body: Buffer.alloc(0), over: Buffer.alloc(0), expected: authentic() },
    {
      name: 'a BOM that was not signed',
      sdk: 'ACCEPTS',
      body: withBom,
      over: BODY,
      expected: refused('signature_mismatch'),
    },
  ])('checks raw bytes: $name (SDK: $sdk)', ({ body, over, expected }) => {
    expect(check(`t=${T},v1=${signed(String(T), over)}`, { body })).toEqual(expected)
  })

  test('uses the whole secret as the key, with its prefix and without decoding', () => {
    for (const key of ['test_vector_secret', Buffer.from('test_vector_secret', 'base64')]) {
      const v1 = createHmac('sha256', key).update(`${T}.`).update(BODY).digest('hex')
      expect(check(`t=${T},v1=${v1}`)).toEqual(refused('signature_mismatch'))
    }
  })

  test('names the first of two equal secrets', () => {
    expect(check(`t=${T},v1=${V1}`, { keys: [...secrets, ...secrets] })).toEqual(authentic())
  })

  test('refuses every notification if there is no secret', () => {
    expect(check(`t=${T},v1=${V1}`, { keys: [] })).toEqual(refused('signature_mismatch'))
  })
})

describe("the processor's secret", () => {
  test('is usable with 16 bytes', () => {
    expect(prepareSecret(new Secret('a'.repeat(16)))).toMatchObject({ kind: 'prepared' })
  })

  test.each([
    { name: 'a blank secret', secret: '', reason: 'secret_empty' },
    { name: 'a trailing newline', secret: `${SECRET}\n`, reason: 'secret_has_whitespace' },
    { name: 'blanks only', secret: ' '.repeat(20), reason: 'secret_has_whitespace' },
    { name: '15 bytes', secret: 'a'.repeat(15), reason: 'secret_too_short' },
  ])('is refused with $name', ({ secret, reason }) => {
    expect(prepareSecret(new Secret(secret))).toEqual({ kind: 'unusable', reason })
  })
})
