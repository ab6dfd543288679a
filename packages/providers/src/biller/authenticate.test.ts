import { Secret } from '@backstop/kit/config'
import { describe, expect, test } from 'vitest'
import { prepareUsable } from '../../test/credentials.ts'
import { createSigner } from '../signer.ts'
import { authenticate, prepareSecret } from './authenticate.ts'

/** A test vector that the provider's own validator accepts (chargebee 3.33.0): user service, password p:ss✓. */
const PASSWORD = 'p:ss✓'
const VECTOR = 'Basic c2VydmljZTpwOnNz4pyT'

const secrets = [prepareUsable({ prepareSecret }, PASSWORD)]
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
const check = (header: string | string[], keys = secrets) =>
  authenticate({ headerValues: [header].flat(), body: Buffer.from('{}'), nowMs: 0 }, keys)
const authentic = { kind: 'authentic', secretIndex: 0, ageS: null }
const refused = (reason: string) => ({ kind: 'refused', reason })

describe("the subscription provider's password", () => {
  test('accepts the vector, whose password contains a colon and a character outside ASCII', () => {
    expect(check(VECTOR)).toEqual(authentic)
  })

  test.each([
    // `sdk` is the result of chargebee 3.33.0, `expected` is the result that Backstop must give.
    { name: 'the scheme in lower case', sdk: 'rejects', header: VECTOR.replace('Basic', 'basic') },
    { name: 'the scheme in upper case', sdk: 'rejects', header: VECTOR.replace('Basic', 'BASIC') },
    { name: 'two blanks after the scheme', sdk: 'rejects', header: VECTOR.replace(' ', '  ') },
  ])('accepts $name (SDK: $sdk)', ({ header }) => {
    expect(check(header)).toEqual(authentic)
  })

  test.each([
    { name: 'no header', sdk: 'warns and skips the check', header: [], reason: 'credential_missing' },
    { name: 'an empty header', sdk: 'not tried', header: '', reason: 'credential_missing' },
    { name: 'the header twice', sdk: 'takes the first', header: [VECTOR, VECTOR], reason: 'credential_repeated' },
    {
      name: 'a wrong password',
      sdk: 'rejects',
      header: `Basic ${base64('service:p:ss')}`,
      reason: 'password_mismatch',
    },
    { name: 'an empty password', sdk: 'not tried', header: `Basic ${base64('service:')}`, reason: 'password_mismatch' },
    {
      name: 'another user',
      sdk: 'not tried',
      header: `Basic ${base64(`admin:${PASSWORD}`)}`,
      reason: 'password_mismatch',
    },
    {
      name: 'the user in upper case',
      sdk: 'not tried',
      header: `Basic ${base64(`Service:${PASSWORD}`)}`,
      reason: 'password_mismatch',
    },
    { name: 'an empty user', sdk: 'not tried', header: `Basic ${base64(`:${PASSWORD}`)}`, reason: 'password_mismatch' },
    { name: 'no colon', sdk: 'not tried', header: `Basic ${base64('service')}`, reason: 'credential_malformed' },
    { name: 'the scheme alone', sdk: 'not tried', header: 'Basic', reason: 'credential_malformed' },
    { name: 'the scheme with a blank', sdk: 'not tried', header: 'Basic ', reason: 'credential_malformed' },
    {
      name: 'another scheme',
      sdk: 'not tried',
      header: VECTOR.replace('Basic', 'Bearer'),
      reason: 'credential_malformed',
    },
    { name: 'three parts', sdk: 'rejects', header: `${VECTOR} x`, reason: 'credential_malformed' },
    {
      name: 'a tab after the scheme',
      sdk: 'not tried',
      header: VECTOR.replace(' ', '\t'),
      reason: 'credential_malformed',
    },
    {
      name: 'a character outside base64',
      sdk: 'ACCEPTS (drops it)',
      header: `${VECTOR.slice(0, -4)}!4pyT`,
      reason: 'credential_malformed',
    },
    {
      name: 'base64url',
      sdk: 'accepts',
      header: `Basic ${Buffer.from('service:p??>').toString('base64url')}`,
      reason: 'credential_malformed',
    },
    {
      name: 'base64 without its padding',
      sdk: 'accepts',
      header: `Basic ${base64('service:pa').replaceAll('=', '')}`,
      reason: 'credential_malformed',
    },
    {
      name: 'base64 with unused bits that are not zero',
      sdk: 'accepts',
      header: 'Basic c2VydmljZTpwOnN=',
      reason: 'credential_malformed',
    },
    { name: 'clear text', sdk: 'not tried', header: `Basic service:${PASSWORD}`, reason: 'credential_malformed' },
    {
      name: 'more than 4 KiB',
      sdk: 'not tried',
      header: `Basic ${base64('x'.repeat(4096))}`,
      reason: 'credential_too_long',
    },
  ])('refuses $name (SDK: $sdk)', ({ header, reason }) => {
    expect(check(header)).toEqual(refused(reason))
  })

  test('refuses the password in another Unicode form, because bytes are compared', () => {
    const composed = [prepareUsable({ prepareSecret }, 'pässword-of-some-length'.normalize('NFC'))]
    const other = `Basic ${base64(`service:${'pässword-of-some-length'.normalize('NFD')}`)}`
    expect(check(other, composed)).toEqual(refused('password_mismatch'))
  })

  test('accepts any of several passwords and returns its index', () => {
    const keys = [prepareUsable({ prepareSecret }, 'the-new-password'), ...secrets]
    expect(check(VECTOR, keys)).toEqual({ kind: 'authentic', secretIndex: 1, ageS: null })
  })

  test('names the first of two equal passwords', () => {
    expect(check(VECTOR, [...secrets, ...secrets])).toEqual(authentic)
  })

  test('ignores a credential of another kind', () => {
    const key = { kind: 'signing_key', sign: createSigner(Buffer.alloc(32)) } as const
    expect(check(VECTOR, [key, ...secrets])).toEqual({ ...authentic, secretIndex: 1 })
  })

  test('refuses every notification if there is no password, also with an empty password', () => {
    expect(check(`Basic ${base64('service:')}`, [])).toEqual(refused('password_mismatch'))
  })

  test.each([
    { name: 'a blank password', secret: '', reason: 'secret_empty' },
    { name: 'a trailing newline', secret: 'a-password-of-some-length\n', reason: 'secret_has_whitespace' },
  ])('cannot be $name', ({ secret, reason }) => {
    expect(prepareSecret(new Secret(secret))).toEqual({ kind: 'unusable', reason })
  })
})
