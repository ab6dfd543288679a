import fc from 'fast-check'

/** Characters that have a meaning in separators, URLs, markup or displays, and letters of several scripts. */
const UNUSUAL_TEXTS = [
  '/',
  '|',
  ':',
  ' ',
  '%',
  '%2F',
  '%25',
  '.',
  '..',
  '?',
  '#',
  '&',
  '=',
  '+',
  '\\',
  '"',
  '<',
  '>',
  '*',
  '`',
  'ö',
  'o\u0308',
  'ß',
  'İ',
  '日',
  '😀',
  '\u200b',
  '\u202e',
  '\u2066',
  '\u2028',
  '\ufeff',
  '\u00a0',
  '_',
  '-',
  'a',
  'B',
  '0',
]

/** Generates ids that a provider's object may have, with unusual characters more often than at random. */
export function providerIds(): fc.Arbitrary<string> {
  const odd = fc.array(fc.constantFrom(...UNUSUAL_TEXTS), { minLength: 1, maxLength: 12 }).map(parts => parts.join(''))
  const any = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter(text => !/\p{Cc}|\p{Cs}/u.test(text))
  const exact = fc.constantFrom('.', '..', 'Söhne & Co KG', 'idempotency_key/k', 'acme/x', 'refund/re_1')
  return fc.oneof(odd, any, exact)
}
