import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { invalidJsonIndex } from './parse-json.ts'

describe('the index of the first character that is not valid JSON', () => {
  test.each([
    { text: '', at: 0 },
    { text: '  ', at: 2 },
    { text: '{a}', at: 1 },
    { text: '{"a":1,}', at: 7 },
    { text: '{"a":1,', at: 7 },
    { text: '{"a" 1}', at: 5 },
    { text: '{"a":tru}', at: 5 },
    { text: '[1,2', at: 4 },
    { text: '[1,]', at: 3 },
    { text: '[1}', at: 2 },
    { text: '[1] 2', at: 4 },
    { text: '"a\nb"', at: 2 },
    { text: '"a\\x"', at: 2 },
    { text: '"a\\u12"', at: 2 },
    { text: '{"a":"abc', at: 9 },
    { text: '01', at: 1 },
    { text: '-', at: 0 },
    { text: '1.', at: 1 },
    { text: '\uFEFF{}', at: 0 },
  ])('$text: $at', ({ text, at }) => {
    expect(invalidJsonIndex(text)).toBe(at)
  })

  test('is found if and only if the parser refuses the text', () => {
    const json = fc.json({ depthSize: 'small' })
    const broken = fc
      .tuple(json, fc.nat(), fc.nat(2), fc.constantFrom('', ',', '}', ']', '"', ':', '1', 'x', '\\\\', '\n'))
      .map(([text, at, truncatePath, more]) => {
        const place = at % (text.length + 1)
        return text.slice(0, place) + more + text.slice(place + truncatePath)
      })
    fc.assert(
      fc.property(fc.oneof(json, broken, fc.string()), text => {
        const fault = invalidJsonIndex(text)
        expect(fault === undefined).toBe(isJson(text))
        expect(fault ?? 0).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 2_000 },
    )
  })

  test('is found after a megabyte and at a depth of a hundred thousand levels', () => {
    expect(invalidJsonIndex(`"${'x'.repeat(1_000_000)}" x`)).toBe(1_000_003)
    expect(invalidJsonIndex(`"${'\\\\n'.repeat(300_000)}`)).toBe(900_001)
    expect(invalidJsonIndex('['.repeat(100_000))).toBe(100_000)
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
