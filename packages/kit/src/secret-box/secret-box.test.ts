import { createCipheriv, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { parseKeyRing } from './key-ring.ts'
import { createSecretBox, type SecretContext } from './secret-box.ts'

const keyText = (fill: number) => Buffer.alloc(32, fill).toString('base64')
const ringOf = (text: string) => parseKeyRing(new Secret(text))
const box = createSecretBox(ringOf(`k1:${keyText(1)}`))
const place: SecretContext = { collection: 'connections', id: 'con_1', field: 'inbound_secret', projectId: 'prj_1' }
const unreadable = expect.objectContaining({ code: 'secret_unreadable', retryable: false })

describe('the secret box', () => {
  test.each(['whsec_abc', '', 'ключ-💶', 'x'.repeat(4096)])('opens what it sealed: %s', text => {
    expect(box.open(box.seal(new Secret(text), place), place).reveal()).toBe(text)
  })

  test('the sealed form names the key, holds no clear text and differs each time', () => {
    const sealed = box.seal(new Secret('canary-secret'), place)
    expect(sealed).toMatch(/^v1\.k1\.[\w-]{80}\.[\w-]{16}\.[\w-]+$/)
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('canary')
    expect(box.seal(new Secret('canary-secret'), place)).not.toBe(sealed)
  })

  const elsewhere: { name: string; context: SecretContext }[] = [
    { name: 'another row', context: { ...place, id: 'con_2' } },
    { name: 'another field', context: { ...place, field: 'read_key' } },
    { name: 'another project', context: { ...place, projectId: 'prj_2' } },
    { name: 'another collection', context: { ...place, collection: 'channels' } },
    { name: 'parts that only join to the same text', context: { ...place, id: 'con_1","inbound_secret', field: '' } },
  ]
  test.each(elsewhere)('a sealed secret does not open in $name', ({ context }) => {
    expect(() => box.open(box.seal(new Secret('s'), place), context)).toThrow(unreadable)
  })

  test('ciphertexts swapped between two rows are refused on both', () => {
    const other = { ...place, id: 'con_2' }
    const [first, second] = [box.seal(new Secret('a'), place), box.seal(new Secret('b'), other)]
    expect(() => box.open(second, place)).toThrow(unreadable)
    expect(() => box.open(first, other)).toThrow(unreadable)
    // The text of one row cannot be combined with the data key of another row.
    const mixed = [...first.split('.').slice(0, 3), ...second.split('.').slice(3)].join('.')
    expect(() => box.open(mixed, place)).toThrow(unreadable)
  })

  test('changing any single character makes it unreadable', () => {
    const sealed = box.seal(new Secret('some secret'), place)
    for (let at = 0; at < sealed.length; at++) {
      const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
      expect(() => box.open(changed, place)).toThrow(unreadable)
    }
  })

  test('a tag cut to four bytes is refused, although it is a true prefix of the right one', () => {
    // Node's GCM accepts such a tag unless authTagLength is set.
    const sealed = box.seal(new Secret('0123456789'), place)
    const parts = sealed.split('.')
    const text = Buffer.from(parts[4] ?? '', 'base64url')
    const cut = [...parts.slice(0, 4), text.subarray(0, text.length - 12).toString('base64url')].join('.')
    expect(() => box.open(cut, place)).toThrow(unreadable)
    const wrapped = Buffer.from(parts[2] ?? '', 'base64url')
      .subarray(0, -12)
      .toString('base64url')
    expect(() => box.open([parts[0], parts[1], wrapped, parts[3], parts[4]].join('.'), place)).toThrow(unreadable)
  })

  test('what another program sealed without the context is refused', () => {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', Buffer.alloc(32, 1), iv, { authTagLength: 16 })
    const dek = Buffer.concat([iv, cipher.update(Buffer.alloc(32)), cipher.final(), cipher.getAuthTag()])
    const forged = `v1.k1.${dek.toString('base64url')}.${iv.toString('base64url')}.${Buffer.alloc(20).toString('base64url')}`
    expect(() => box.open(forged, place)).toThrow(unreadable)
  })

  test.each(['', 'v1', 'v2.k1.a.b.c', 'v1.k1.a.b', 'v1.k1.a.b.c.d', 'v1..a.b.c', 'v1.k1.!!.??.**'])(
    'malformed text is refused: "%s"',
    text => {
      expect(() => box.open(text, place)).toThrow(unreadable)
    },
  )

  test('an unknown key id is named, with the remedy', () => {
    const other = createSecretBox(ringOf(`retired-2025:${keyText(2)}`))
    const sealed = other.seal(new Secret('s'), place)
    expect(() => box.open(sealed, place)).toThrow(/connections\/con_1\.inbound_secret .*"retired-2025".*SECRET_KEYS/)
    expect(() => box.open(sealed, place)).toThrow(unreadable)
  })

  test('the same key id with another key is unreadable, not garbage', () => {
    const sealed = box.seal(new Secret('s'), place)
    expect(() => createSecretBox(ringOf(`k1:${keyText(9)}`)).open(sealed, place)).toThrow(unreadable)
  })

  test('with several keys the first seals and all open', () => {
    const old = box.seal(new Secret('old'), place)
    const rotated = createSecretBox(ringOf(`k2:${keyText(2)},k1:${keyText(1)}`))
    expect(rotated.open(old, place).reveal()).toBe('old')
    expect(rotated.seal(new Secret('new'), place)).toMatch(/^v1\.k2\./)
  })
})

describe('the fingerprint of a secret', () => {
  test('is eight hex digits, the same for the same secret and another for another', () => {
    expect(box.fingerprint(new Secret('a'))).toMatch(/^[0-9a-f]{8}$/)
    expect(box.fingerprint(new Secret('a'))).toBe(box.fingerprint(new Secret('a')))
    expect(box.fingerprint(new Secret('a'))).not.toBe(box.fingerprint(new Secret('b')))
  })

  test('depends on the key, so that it cannot be computed from a guess', () => {
    const other = createSecretBox(ringOf(`k1:${keyText(2)}`))
    expect(other.fingerprint(new Secret('a'))).not.toBe(box.fingerprint(new Secret('a')))
  })
})

describe('a signed token', () => {
  const text = 'prj_1\nops@example.com'

  test('returns its text with the right key, and fits into a URL', () => {
    const token = box.sign('unsubscribe', text)
    expect(box.verify('unsubscribe', token)).toBe(text)
    expect(token).toMatch(/^v1\.k1\.[\w-]+\.[\w-]{43}$/)
    expect(box.sign('unsubscribe', text)).toBe(token)
  })

  test('is good for its own purpose only', () => {
    expect(box.verify('mail-events', box.sign('unsubscribe', text))).toBeUndefined()
  })

  test('is none once any character of it was changed', () => {
    const token = box.sign('unsubscribe', text)
    for (let at = 0; at < token.length; at++) {
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1)
      expect(box.verify('unsubscribe', changed)).toBeUndefined()
    }
  })

  test.each(['', '.', '...', 'v1.k1', 'v1.k1..', `v1.k1.${'A'.repeat(8)}.`, 'v1.k2.QQ.QQ', `${'.'.repeat(5_000)}`])(
    'is not "%s"',
    token => expect(box.verify('unsubscribe', token)).toBeUndefined(),
  )

  test('outlives a new primary key, not the end of its own', () => {
    const token = box.sign('unsubscribe', text)
    const rotated = createSecretBox(ringOf(`k2:${keyText(2)},k1:${keyText(1)}`))
    expect(rotated.verify('unsubscribe', token)).toBe(text)
    expect(rotated.sign('unsubscribe', text)).toMatch(/^v1\.k2\./)
    expect(createSecretBox(ringOf(`k2:${keyText(2)}`)).verify('unsubscribe', token)).toBeUndefined()
  })

  test('of the same key id made with another key is none', () => {
    const other = createSecretBox(ringOf(`k1:${keyText(9)}`))
    expect(other.verify('unsubscribe', box.sign('unsubscribe', text))).toBeUndefined()
  })
})
