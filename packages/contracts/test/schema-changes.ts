import type { JsonSchema } from '../src/messages/json-schema.ts'

export interface SchemaChange {
  readonly name: string
  readonly older: JsonSchema
  readonly newer: JsonSchema
  readonly verdict: 'compatible' | 'incompatible'
  /** Matches the reason that `incompatibilities` gives; absent for a compatible change. */
  readonly reason?: RegExp
}

const text = { type: 'string' }
const integer = { type: 'integer' }

function object(properties: Record<string, unknown>, required = Object.keys(properties)): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

const kind = (name: string, rest: Record<string, unknown>) => object({ kind: { type: 'string', const: name }, ...rest })

/** Changes of a message's schema, each with the registry's verdict. */
export const schemaChanges: readonly SchemaChange[] = [
  {
    name: 'an optional field is added',
    ...{ older: object({ a: text }), newer: object({ a: text, b: text }, ['a']), verdict: 'compatible' },
  },
  {
    name: 'a required field is added',
    ...{ older: object({ a: text }), newer: object({ a: text, b: text }), verdict: 'incompatible' },
    reason: /^\$\.b: is required now$/,
  },
  {
    name: 'an optional field becomes required',
    ...{ older: object({ a: text, b: text }, ['a']), newer: object({ a: text, b: text }), verdict: 'incompatible' },
    reason: /^\$\.b: is required now$/,
  },
  {
    name: 'a required field becomes optional',
    ...{ older: object({ a: text, b: text }), newer: object({ a: text, b: text }, ['a']), verdict: 'compatible' },
  },
  {
    name: 'a field is removed',
    ...{ older: object({ a: text, b: text }), newer: object({ a: text }), verdict: 'incompatible' },
    reason: /^\$\.b: is no longer allowed$/,
  },
  {
    name: 'a field is renamed',
    ...{ older: object({ a: text }), newer: object({ b: text }), verdict: 'incompatible' },
    reason: /\$\.b: is required now\n\$\.a: is no longer allowed/,
  },
  {
    name: 'a field changes its type',
    ...{ older: object({ a: text }), newer: object({ a: integer }), verdict: 'incompatible' },
    reason: /^\$\.a: string became integer$/,
  },
  {
    name: 'a field may be null from now on',
    older: object({ a: text }),
    newer: object({ a: { anyOf: [text, { type: 'null' }] } }),
    verdict: 'compatible',
  },
  {
    name: 'a field may no longer be null',
    older: object({ a: { anyOf: [text, { type: 'null' }] } }),
    newer: object({ a: text }),
    verdict: 'incompatible',
    reason: /^\$\.a: alternative 2 of 2 has no successor \(\$\.a: null became string\)$/,
  },
  {
    name: 'a list of types gets one more',
    older: object({ a: text }),
    newer: object({ a: { type: ['string', 'null'] } }),
    verdict: 'compatible',
  },
  {
    name: 'an enumeration gets one more value',
    older: object({ a: { type: 'string', enum: ['x'] } }),
    newer: object({ a: { type: 'string', enum: ['x', 'y'] } }),
    verdict: 'compatible',
  },
  {
    name: 'an enumeration loses a value',
    older: object({ a: { type: 'string', enum: ['x', 'y'] } }),
    newer: object({ a: { type: 'string', enum: ['x'] } }),
    verdict: 'incompatible',
    reason: /^\$\.a: no longer allows "y"$/,
  },
  {
    name: 'a field inside a field is added as optional',
    older: object({ a: object({ b: text }) }),
    newer: object({ a: object({ b: text, c: text }, ['b']) }),
    verdict: 'compatible',
  },
  {
    name: 'a field inside a field is added as required',
    older: object({ a: object({ b: text }) }),
    newer: object({ a: object({ b: text, c: text }) }),
    verdict: 'incompatible',
    reason: /^\$\.a\.c: is required now$/,
  },
  {
    name: 'a field inside a list is added as required',
    older: object({ a: { type: 'array', items: object({ b: text }) } }),
    newer: object({ a: { type: 'array', items: object({ b: text, c: text }) } }),
    verdict: 'incompatible',
    reason: /^\$\.a\[\]\.c: is required now$/,
  },
  {
    name: 'a union gets one more member',
    older: { oneOf: [kind('x', { a: text }), kind('y', { a: text })] },
    newer: { oneOf: [kind('x', { a: text }), kind('y', { a: text }), kind('z', { b: integer })] },
    verdict: 'compatible',
  },
  {
    name: 'a union loses a member',
    older: { oneOf: [kind('x', { a: text }), kind('y', { a: text }), kind('z', { b: integer })] },
    newer: { oneOf: [kind('x', { a: text }), kind('y', { a: text })] },
    verdict: 'incompatible',
    reason: /alternative 3 of 3 has no successor/,
  },
  {
    name: 'a member of a union gets an optional field',
    older: { oneOf: [kind('x', { a: text }), kind('y', { a: text })] },
    newer: {
      oneOf: [{ ...kind('x', { a: text, b: text }), required: ['kind', 'a'] }, kind('y', { a: text })],
    },
    verdict: 'compatible',
  },
  {
    name: 'a number may be smaller from now on',
    older: object({ a: { type: 'integer', minimum: 1 } }),
    newer: object({ a: { type: 'integer', minimum: 0 } }),
    verdict: 'compatible',
  },
  {
    name: 'a number must be larger from now on',
    older: object({ a: { type: 'integer', minimum: 0 } }),
    newer: object({ a: { type: 'integer', minimum: 1 } }),
    verdict: 'incompatible',
    reason: /^\$\.a: minimum is now 1$/,
  },
  {
    name: 'a text must be shorter from now on',
    older: object({ a: text }),
    newer: object({ a: { type: 'string', maxLength: 5 } }),
    verdict: 'incompatible',
    reason: /^\$\.a: maxLength is now 5$/,
  },
  {
    name: 'a text must match a pattern from now on',
    older: object({ a: text }),
    newer: object({ a: { type: 'string', pattern: '^x$' } }),
    verdict: 'incompatible',
    reason: /^\$\.a: pattern was changed$/,
  },
  {
    name: 'a whole number may be any number from now on',
    older: object({ a: integer }),
    newer: object({ a: { type: 'number' } }),
    verdict: 'compatible',
  },
]
