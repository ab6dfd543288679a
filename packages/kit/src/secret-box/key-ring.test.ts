import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../config/config.ts'
import { Secret } from '../config/secret.ts'
import { keyRingSetting, parseKeyRing } from './key-ring.ts'

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64')

describe('the setting SECRET_KEYS', () => {
  test('the first key is the primary one and all are held', () => {
    const ring = parseKeyRing(new Secret(`new:${key(1)}, old:${key(2)}`))
    expect(ring.primary).toBe('new')
    expect([...ring.keys.keys()]).toEqual(['new', 'old'])
  })

  test('a key that is lost for good is named, and is no key', () => {
    const ring = parseKeyRing(new Secret(`new:${key(1)},old:lost`))
    expect([[...ring.keys.keys()], [...ring.lost]]).toEqual([['new'], ['old']])
  })

  const refused = [
    { name: 'a lost key as the primary one', text: `k:lost,j:${key(1)}`, message: /"k" is not 32 bytes/ },
    { name: 'an id of a key and of a lost one', text: `k:${key(1)},k:lost`, message: /"k" occurs twice/ },
    { name: 'nothing at all', text: '', message: /Key 1 has no valid key id/ },
    { name: 'a key without an id', text: key(1), message: /Key 1 has no valid key id/ },
    { name: 'an id with a dot, which the sealed form could not hold', text: `a.b:${key(1)}`, message: /valid key id/ },
    { name: 'a key of 31 bytes', text: `k:${Buffer.alloc(31).toString('base64')}`, message: /"k" is not 32 bytes/ },
    { name: 'a key of 33 bytes', text: `k:${Buffer.alloc(33).toString('base64')}`, message: /"k" is not 32 bytes/ },
    { name: 'a key with a character that is no base64', text: `k:!${key(1).slice(1)}`, message: /is not 32 bytes/ },
    { name: 'an id twice', text: `k:${key(1)},k:${key(2)}`, message: /"k" occurs twice/ },
    { name: 'a trailing comma', text: `k:${key(1)},`, message: /Key 2 has no valid key id/ },
  ]
  test.each(refused)('refuses $name', ({ text, message }) => {
    expect(() => parseKeyRing(new Secret(text))).toThrow(message)
  })

  test('a refusal never shows the key', () => {
    const bare = key(9)
    for (const text of [bare, `k:${bare}x`, `k:${bare},k:${bare}`]) {
      expect(() => parseKeyRing(new Secret(text))).toThrow(expect.objectContaining({ code: 'config_invalid' }))
      try {
        parseKeyRing(new Secret(text))
      } catch (error) {
        expect(inspect(error)).not.toContain(bare.slice(0, 20))
      }
    }
  })

  test('its faults are reported together with those of other settings', () => {
    const read = () =>
      readConfig({ SECRET_KEYS: keyRingSetting(), OTHER: keyRingSetting() }, { SECRET_KEYS: 'k:short' })
    expect(read).toThrow(/SECRET_KEYS: Key "k" is not 32 bytes[\s\S]*OTHER: is required/)
  })

  test('a printed key ring shows no key', () => {
    expect(inspect(parseKeyRing(new Secret(`k:${key(9)}`)), { depth: 9 })).not.toContain(key(9).slice(0, 8))
  })
})
