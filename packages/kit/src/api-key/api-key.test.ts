import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { generateApiKey, hashApiKey, hintOf, isMistyped, randomBase62 } from './api-key.ts'

describe('an API key', () => {
  test('reads bsk_ and 36 base62 characters, 30 of them random', () => {
    const keys = Array.from({ length: 200 }, () => generateApiKey().reveal())
    for (const key of keys) expect(key).toMatch(/^bsk_[0-9A-Za-z]{36}$/)
    expect(new Set(keys.map(key => key.slice(0, 34))).size).toBe(200)
  })

  test('ends in the CRC32 of all before, so that a scanner can tell it without us', () => {
    const key = generateApiKey().reveal()
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    expect(value).toBe(crc32(key.slice(0, -6)))
  })

  test('is known as mistyped when a character is wrong, and only when it has the form of ours', () => {
    const key = generateApiKey().reveal()
    const wrong = key.slice(0, 10) + (key[10] === 'A' ? 'B' : 'A') + key.slice(11)
    expect(isMistyped(new Secret(key))).toBe(false)
    expect(isMistyped(new Secret(wrong))).toBe(true)
    expect(isMistyped(new Secret('an-operators-own-bootstrap-key-0123456789'))).toBe(false)
  })

  test('is stored as its SHA-256', () => {
    // echo -n abc | sha256sum
    const wanted = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(hashApiKey(new Secret('abc'))).toBe(wanted)
  })

  test('is shown by its first eight characters', () => {
    const key = generateApiKey()
    expect(hintOf(key)).toBe(key.reveal().slice(0, 8))
  })
})

test('random base62 uses every character about as often as any other', () => {
  const counts = new Map<string, number>()
  for (const character of randomBase62(62 * 1_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
  expect(counts.size).toBe(62)
  // About a thousand of each character are expected. Bytes modulo 62 would favour the first eight characters by a
  // quarter.
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(190)
})
