import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { describeInputFault } from './input-fault.ts'

const Kind = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })])

const rows: { name: string; schema: z.ZodType; given: unknown; words: string }[] = [
  { name: 'text that is missing', schema: z.string(), given: undefined, words: 'It is missing; give text' },
  { name: 'an object that is missing', schema: z.object({}), given: undefined, words: 'It is missing; give an object' },
  {
    name: 'a choice that is missing',
    schema: z.enum(['auto', 'alert']),
    given: undefined,
    words: 'It is missing; give one of auto, alert',
  },
  { name: 'null for text', schema: z.string(), given: null, words: 'Give text' },
  { name: 'text for a list', schema: z.array(z.string()), given: 'x', words: 'Give a list' },
  { name: 'text for a number', schema: z.number(), given: '1', words: 'Give a number' },
  { name: 'what is no number once read as one', schema: z.coerce.number(), given: 'x', words: 'Give a number' },
  { name: 'half a number', schema: z.int(), given: 0.5, words: 'Give a whole number' },
  { name: 'text for a yes or no', schema: z.boolean(), given: 'yes', words: 'Give true or false' },
  { name: 'an unknown choice', schema: z.enum(['auto', 'alert']), given: 'x', words: 'Give one of auto, alert' },
  { name: 'an unknown kind', schema: Kind, given: { kind: 'x' }, words: 'Give one of a, b' },
  { name: 'no kind', schema: Kind, given: {}, words: 'Give one of a, b' },
  { name: 'empty text', schema: z.string().min(1), given: '', words: 'Give at least 1 character' },
  { name: 'an empty list', schema: z.array(z.string()).min(1), given: [], words: 'Give at least 1 item' },
  { name: 'text that is too short', schema: z.string().min(8), given: 'x', words: 'Give at least 8 characters' },
  { name: 'text that is too long', schema: z.string().max(2), given: 'xxx', words: 'Give at most 2 characters' },
  { name: 'a list that is too long', schema: z.array(z.any()).max(2), given: [1, 2, 3], words: 'Give at most 2 items' },
  { name: 'a number that is too small', schema: z.number().min(1), given: 0, words: 'Give at least 1' },
  { name: 'a number that is too big', schema: z.number().max(9), given: 10, words: 'Give at most 9' },
  { name: 'what is no address', schema: z.email(), given: 'x', words: 'Give an e-mail address' },
  {
    name: 'what is no time',
    schema: z.iso.datetime({ offset: true }),
    given: 'x',
    words: 'Give a time as in ISO 8601, such as 2026-11-21T10:00:00Z',
  },
  { name: "a schema's own words", schema: z.string().min(8, 'Give more'), given: 'x', words: 'Give more' },
]

describe('the words for a fault of an input', () => {
  test.each(rows)('$name: $words', ({ schema, given, words }) => {
    const { error } = schema.safeParse(given, { error: describeInputFault })
    expect(error?.issues.map(issue => issue.message)).toEqual([words])
  })

  test('never repeat what was given', () => {
    const strict = z.strictObject({ a: z.literal('x'), b: z.string().max(1), c: z.email() })
    const { error } = strict.safeParse({ a: 'canary', b: 'canary', c: 'canary' }, { error: describeInputFault })
    expect(error?.issues).toHaveLength(3)
    expect(JSON.stringify(error?.issues.map(issue => issue.message))).not.toContain('canary')
  })
})
