import { createHmac } from 'node:crypto'
import { Secret } from '@backstop/kit/config'
import { describe, expect, test } from 'vitest'
import { prepareUsable } from '../../test/credentials.ts'
import { authenticate, prepareSecret } from './authenticate.ts'

/** A test vector that paddle-node-sdk 3.10.0 and node:crypto sign alike. */
const SECRET = 'pdl_ntfset_test_vector_secret'
const BODY = Buffer.from('{"event_id":"evt_1","event_type":"adjustment.created","note":"café"}')
const TS = 1_700_000_000
const H1 = '6c279a8acff33d0dd8dbc0ca521d84999a60a05032f2137a56bca46012bee5e7'

const BAD = '0'.repeat(64)
const secrets = [prepareUsable({ prepareSecret }, SECRET)]
const check = (header: string | string[], { body = BODY, nowS = TS, keys = secrets } = {}) =>
  authenticate({ headerValues: [header].flat(), body, nowMs: nowS * 1000 }, keys)
const signed = (text: string, secret = SECRET) =>
  createHmac('sha256', secret).update(`${text}:`).update(BODY).digest('hex')
const authentic = (ageS = 0) => ({ kind: 'authentic', secretIndex: 0, ageS })
const refused = (reason: string) => ({ kind: 'refused', reason })

describe("the reseller's signature", () => {
  test('accepts the published vector', () => {
    expect(check(`ts=${TS};h1=${H1}`)).toEqual(authentic())
  })

  test.each([
    // `sdk` is the result of paddle-node-sdk 3.10.0, `expected` is the result that Backstop must give.
    { name: 'a bad h1 before the good one', sdk: 'accepts', header: `ts=${TS};h1=${BAD};h1=${H1}` },
    { name: 'a bad h1 after the good one', sdk: 'REJECTS', header: `ts=${TS};h1=${H1};h1=${BAD}` },
    { name: 'h1 before ts', sdk: 'accepts', header: `h1=${H1};ts=${TS}` },
    { name: 'an unknown name', sdk: 'accepts; Python and PHP throw', header: `ts=${TS};h2=${BAD};h1=${H1}` },
    { name: 'an empty h1 before the good one', sdk: 'not tried', header: `ts=${TS};h1=;h1=${H1}` },
  ])('accepts $name (SDK: $sdk)', ({ header }) => {
    expect(check(header)).toEqual(authentic())
  })

  test.each([
    { name: 'a blank after the semicolon', sdk: 'throws', header: `ts=${TS}; h1=${H1}`, reason: 'signature_missing' },
    { name: 'a blank before ts', sdk: 'not tried', header: ` ts=${TS};h1=${H1}`, reason: 'timestamp_missing' },
    {
      name: 'a number with letters as ts',
      sdk: 'ACCEPTS',
      header: `ts=${TS}x;h1=${H1}`,
      reason: 'timestamp_malformed',
    },
    {
      name: 'ts=abc, signed over NaN',
      sdk: 'ACCEPTS',
      header: `ts=abc;h1=${signed('NaN')}`,
      reason: 'timestamp_malformed',
    },
    { name: 'an empty ts', sdk: 'not tried', header: `ts=;h1=${H1}`, reason: 'timestamp_malformed' },
    { name: 'two ts', sdk: 'not tried', header: `ts=1;ts=${TS};h1=${H1}`, reason: 'timestamp_repeated' },
    { name: 'upper-case hex', sdk: 'rejects', header: `ts=${TS};h1=${H1.toUpperCase()}`, reason: 'signature_missing' },
    { name: 'no ts', sdk: 'throws', header: `h1=${H1}`, reason: 'timestamp_missing' },
    { name: 'no h1', sdk: 'throws', header: `ts=${TS}`, reason: 'signature_missing' },
    { name: 'an empty h1 alone', sdk: 'not tried', header: `ts=${TS};h1=`, reason: 'signature_missing' },
    { name: 'only bad h1', sdk: 'not tried', header: `ts=${TS};h1=${BAD}`, reason: 'signature_mismatch' },
    {
      name: "the processor's punctuation",
      sdk: 'not tried',
      header: `ts=${TS},h1=${H1}`,
      reason: 'timestamp_malformed',
    },
    {
      name: "the processor's joint",
      sdk: 'not tried',
      header: `ts=${TS};h1=${createHmac('sha256', SECRET).update(`${TS}.`).update(BODY).digest('hex')}`,
      reason: 'signature_mismatch',
    },
    {
      name: 'the header twice',
      sdk: 'not tried',
      header: [`ts=${TS};h1=${H1}`, `ts=${TS};h1=${H1}`],
      reason: 'credential_repeated',
    },
    { name: 'no header', sdk: 'not tried', header: [], reason: 'credential_missing' },
    {
      name: '17 signatures',
      sdk: 'not tried',
      header: `ts=${TS};${`h1=${BAD};`.repeat(16)}h1=${H1}`,
      reason: 'too_many_signatures',
    },
    {
      name: 'more than 4 KiB',
      sdk: 'not tried',
      header: `ts=${TS};h1=${H1};x=${'y'.repeat(4096)}`,
      reason: 'credential_too_long',
    },
  ])('refuses $name (SDK: $sdk)', ({ header, reason }) => {
    expect(check(header)).toEqual(refused(reason))
  })

  test.each([
    // The SDK allows 5 s. Backstop allows 5 minutes, because retries and clocks of providers need it.
    { name: '6 s old', sdk: 'rejects', nowS: TS + 6, expected: authentic(6) },
    { name: '300 s old', sdk: 'rejects', nowS: TS + 300, expected: authentic(300) },
    { name: '301 s old', sdk: 'rejects', nowS: TS + 301, expected: refused('timestamp_too_old') },
    { name: '300 s ahead', sdk: 'not tried', nowS: TS - 300, expected: authentic(-300) },
    { name: '301 s ahead', sdk: 'not tried', nowS: TS - 301, expected: refused('timestamp_in_future') },
    { name: 'one day ahead', sdk: 'ACCEPTS', nowS: TS - 86_400, expected: refused('timestamp_in_future') },
  ])('decides a signature that is $name (SDK: $sdk)', ({ nowS, expected }) => {
    expect(check(`ts=${TS};h1=${H1}`, { nowS })).toEqual(expected)
  })

  test('tries every h1 against every secret, as the Python and PHP SDKs do while a secret is rotated', () => {
    const keys = ['pdl_ntfset_old_secret_1', 'pdl_ntfset_old_secret_2', SECRET].map(secret =>
      prepareUsable({ prepareSecret }, secret),
    )
    expect(check(`ts=${TS};h1=${BAD};h1=${H1}`, { keys })).toEqual({ kind: 'authentic', secretIndex: 2, ageS: 0 })
  })
})

describe("the reseller's secret", () => {
  test.each([
    { name: 'a blank secret', secret: '', reason: 'secret_empty' },
    { name: 'a trailing newline', secret: `${SECRET}\n`, reason: 'secret_has_whitespace' },
    { name: '15 bytes', secret: 'a'.repeat(15), reason: 'secret_too_short' },
  ])('is refused with $name', ({ secret, reason }) => {
    expect(prepareSecret(new Secret(secret))).toEqual({ kind: 'unusable', reason })
  })
})
