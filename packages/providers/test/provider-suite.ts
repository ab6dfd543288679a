/** The tests of authentication that every provider must pass. A new provider calls describeProvider with its signer. */
import { Secret } from '@backstop/kit/config'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../src/provider.ts'
import { prepareUsable } from './credentials.ts'
import type { TestSigner } from './sign.ts'

const NOW = 1_764_000_000_000
const CURRENT = 'the-current-secret-0001'
const PREVIOUS = 'the-previous-secret-001'
const OTHER = 'a-secret-of-someone-else'

export function describeProvider(provider: Provider, signer: TestSigner): void {
  const keys = [CURRENT, PREVIOUS].map(secret => prepareUsable(provider, secret))
  const authenticate = (
    headerValues: readonly string[],
    body: Buffer,
    { nowMs = NOW, secrets = keys }: { nowMs?: number; secrets?: typeof keys } = {},
  ) => provider.authenticate({ headerValues, body, nowMs }, secrets)
  const body = Buffer.from('{"id":"evt_1","note":"café 😀"}')
  const bodies = fc.uint8Array({ minLength: 1, maxLength: 512 }).map(bytes => Buffer.from(bytes))

  describe(`the ${provider.kind} provider`, () => {
    test('names its credential header first among the accepted ones', () => {
      expect(provider.credentialHeaders[0]).toBe(signer.header)
      expect(provider.credentialHeaders).toEqual(provider.credentialHeaders.map(name => name.toLowerCase()))
    })

    test('accepts any body that the provider signed', () => {
      fc.assert(
        fc.property(bodies, signed => {
          expect(authenticate([signer.sign(signed, [CURRENT], NOW)], signed)).toMatchObject({
            kind: 'authentic',
            secretIndex: 0,
          })
        }),
      )
    })

    test('accepts the previous secret during a rotation, and names its index', () => {
      expect(authenticate([signer.sign(body, [PREVIOUS], NOW)], body)).toMatchObject({ secretIndex: 1 })
    })

    test('refuses the previous secret after the rotation', () => {
      const header = signer.sign(body, [PREVIOUS], NOW)
      expect(authenticate([header], body, { secrets: keys.slice(0, 1) })).toMatchObject({ kind: 'refused' })
    })

    test('refuses a foreign secret, and every notification if there is no secret', () => {
      expect(authenticate([signer.sign(body, [OTHER], NOW)], body)).toMatchObject({ kind: 'refused' })
      expect(authenticate([signer.sign(body, [CURRENT], NOW)], body, { secrets: [] })).toMatchObject({
        kind: 'refused',
      })
    })

    test("ignores secrets of another provider's kind", () => {
      const alien = { signing_key: 'password', password: 'signing_key' } as const
      const wrong = keys.map(key => ({ ...key, kind: alien[key.kind] }) as typeof key)
      expect(authenticate([signer.sign(body, [CURRENT], NOW)], body, { secrets: wrong })).toMatchObject({
        kind: 'refused',
      })
    })

    test('refuses a missing, an empty and a repeated header', () => {
      const header = signer.sign(body, [CURRENT], NOW)
      expect(authenticate([], body)).toEqual({ kind: 'refused', reason: 'credential_missing' })
      expect(authenticate([''], body)).toEqual({ kind: 'refused', reason: 'credential_missing' })
      expect(authenticate([header, header], body)).toEqual({ kind: 'refused', reason: 'credential_repeated' })
    })

    test('refuses the header with any one character changed', () => {
      const header = signer.sign(body, [CURRENT], NOW)
      for (let at = 0; at < header.length; at += 1) {
        const changed = header.slice(0, at) + (header[at] === '0' ? '1' : '0') + header.slice(at + 1)
        expect(authenticate([changed], body), changed).toMatchObject({ kind: 'refused' })
        expect(authenticate([header.slice(0, at)], body), `cut at ${at}`).toMatchObject({ kind: 'refused' })
      }
    })

    test('never throws and never accepts for any header', () => {
      fc.assert(
        fc.property(
          fc.array(fc.string({ unit: 'binary', maxLength: 200 }), { maxLength: 3 }),
          bodies,
          (headers, any) => {
            expect(authenticate(headers, any)).toMatchObject({ kind: 'refused' })
          },
        ),
        { numRuns: 300 },
      )
    })

    test('never throws when it identifies any object', () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string(), fc.anything()), event => {
          expect(provider.identify(event).kind).toMatch(/^(identified|malformed)$/)
        }),
        { numRuns: 500 },
      )
    })

    test('shows no secret in its prepared form', () => {
      const result = provider.prepareSecret(new Secret(CURRENT))
      expect(JSON.stringify(result)).not.toContain(CURRENT)
      expect(`${result}`).not.toContain(CURRENT)
    })

    test('cannot prepare a blank secret', () => {
      expect(provider.prepareSecret(new Secret(''))).toEqual({ kind: 'unusable', reason: 'secret_empty' })
    })

    if (signer.covers.body) describeBody()
    if (signer.covers.time) describeTime()
  })

  function describeBody(): void {
    test('refuses the body with any one bit of any byte flipped', () => {
      fc.assert(
        fc.property(bodies, fc.nat(7), (signed, bit) => {
          const header = signer.sign(signed, [CURRENT], NOW)
          for (let at = 0; at < signed.length; at += 1) {
            const changed = Buffer.from(signed)
            changed[at] = (changed[at] as number) ^ (1 << bit)
            expect(authenticate([header], changed)).toEqual({ kind: 'refused', reason: 'signature_mismatch' })
          }
        }),
        { numRuns: 20 },
      )
    })

    test('refuses a truncated, a longer and a reformatted body', () => {
      const header = signer.sign(body, [CURRENT], NOW)
      const again = Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1))
      for (const changed of [body.subarray(1), body.subarray(0, -1), Buffer.concat([body, body]), again]) {
        expect(authenticate([header], changed)).toEqual({ kind: 'refused', reason: 'signature_mismatch' })
      }
    })

    test('accepts several signatures, one per secret', () => {
      expect(authenticate([signer.sign(body, [OTHER, PREVIOUS], NOW)], body)).toMatchObject({ secretIndex: 1 })
    })
  }

  function describeTime(): void {
    test.each([
      { name: '300 s old', atMs: NOW - 300_000, expected: { kind: 'authentic', ageS: 300 } },
      { name: '301 s old', atMs: NOW - 301_000, expected: { kind: 'refused', reason: 'timestamp_too_old' } },
      { name: '300 s ahead', atMs: NOW + 300_000, expected: { kind: 'authentic', ageS: -300 } },
      { name: '301 s ahead', atMs: NOW + 301_000, expected: { kind: 'refused', reason: 'timestamp_in_future' } },
    ])('decides a signature that is $name', ({ atMs, expected }) => {
      expect(authenticate([signer.sign(body, [CURRENT], atMs)], body)).toMatchObject(expected)
    })

    test('refuses a signature whose time was changed', () => {
      const [old, fresh] = [NOW - 600_000, NOW].map(ms => String(ms / 1000)) as [string, string]
      const header = signer.sign(body, [CURRENT], NOW - 600_000).replace(old, fresh)
      expect(authenticate([header], body)).toEqual({ kind: 'refused', reason: 'signature_mismatch' })
    })
  }
}
