import type { z } from 'zod'

/** A fault found by zod, before it is described in words. */
type Fault = z.core.$ZodRawIssue

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
}

const FORMATS: Readonly<Record<string, string>> = {
  email: 'Give an e-mail address',
  url: 'Give a whole URL, such as https://example.com',
  datetime: 'Give a time as in ISO 8601, such as 2026-11-21T10:00:00Z',
}

/**
 * Describes an invalid input and the remedy, in words that follow the name of the field or setting. For safeParse's
 * `error`; a schema's own message has priority. Never repeats the input, which may be a secret.
 */
export function describeInputFault(fault: Fault): string | undefined {
  const remedy = remedyFor(fault)
  if (remedy === undefined) return undefined
  return fault.input === undefined && fault.code !== 'custom' ? `It is missing; ${lowerFirst(remedy)}` : remedy
}

function remedyFor(fault: Fault): string | undefined {
  switch (fault.code) {
    case 'invalid_type':
      return `Give ${EXPECTED[fault.expected] ?? fault.expected}`
    case 'invalid_value':
      return `Give one of ${fault.values.map(String).join(', ')}`
    case 'invalid_union':
      return Array.isArray(fault.options) ? `Give one of ${fault.options.map(String).join(', ')}` : undefined
    case 'too_small':
      return describeLimit(fault, 'at least')
    case 'too_big':
      return describeLimit(fault, 'at most')
    case 'invalid_format':
      return FORMATS[fault.format]
    default:
      return undefined
  }
}

function describeLimit(fault: Fault & { code: 'too_small' | 'too_big' }, limit: 'at least' | 'at most'): string {
  const count = fault.code === 'too_small' ? fault.minimum : fault.maximum
  const unit = fault.origin === 'string' ? 'character' : fault.origin === 'array' ? 'item' : undefined
  if (unit === undefined) return `Give ${limit} ${count}`
  return `Give ${limit} ${count} ${unit}${Number(count) === 1 ? '' : 's'}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}
