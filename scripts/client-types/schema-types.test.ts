import { expect, test } from 'vitest'
import type { Schema } from './api-document.ts'
import { createTypeWriter } from './schema-types.ts'

const text: Schema = { type: 'string' }
const object = (properties: Record<string, Schema>, required = Object.keys(properties)): Schema => ({
  type: 'object',
  properties,
  required,
})
const sum = object({ amount: { type: 'integer' }, currency: text, count: { type: 'integer' } })

function write(named: Record<string, Schema>): string[] {
  const { namedType } = createTypeWriter(named)
  return Object.keys(named).map(name => namedType(name).replaceAll(/;?\s+/g, ' '))
}

test('an object that was written before is named by its place', () => {
  const place = { A: object({ sum }), B: object({ sum }) }
  expect(write(place)[1]).toBe('{ sum: A["sum"] }')
  expect(write({ A: object({ sum }, []), B: object({ sum }) })[1]).toBe('{ sum: NonNullable<A["sum"]> }')
  expect(write({ A: object({ sums: { type: 'array', items: sum } }), B: object({ sum }) })[1]).toBe(
    '{ sum: A["sums"][number] }',
  )
  expect(
    write({
      A: object({ sums: { type: 'array', items: sum } }),
      B: object({ sums: { type: 'array', items: sum } }),
    })[1],
  ).toBe('{ sums: A["sums"] }')
})

test('a place that is more than the object is not used', () => {
  const written = '{ amount: number currency: string count: number }'
  expect(write({ A: object({ sum: { anyOf: [sum, text] } }), B: object({ sum }) })[1]).toBe(`{ sum: ${written} }`)
  expect(write({ A: object({ sum: { ...sum, type: ['object', 'string'] } }), B: object({ sum }) })[1]).toBe(
    `{ sum: ${written} }`,
  )
  const nullableItems = { type: 'array', items: { anyOf: [sum, { type: 'null' }] } }
  expect(write({ A: object({ sums: nullableItems }), B: object({ sum }) })[1]).toBe(
    '{ sum: NonNullable<A["sums"][number]> }',
  )
})

test('a schema with all properties of another one is that one and the others', () => {
  const whole = object({ ...sum.properties, id: text, name: text, at: text })
  expect(write({ Sum: sum, Whole: whole, Other: object({ own: object({ id: text, name: text, at: text }) }) })).toEqual(
    [
      '{ amount: number currency: string count: number }',
      'Sum & { id: string name: string at: string }',
      '{ own: { id: string name: string at: string } }',
    ],
  )
  expect(write({ Sum: sum, Twin: sum })[1]).toBe('Sum')
})

test('an object without a name that has all of a large named one, perhaps required, is that one and the others', () => {
  const fields = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map(name => [name, text]))
  const large = object({ ...fields, a: { anyOf: [text, { type: 'null' }] } }, ['b', 'c', 'd', 'e', 'f'])
  const items = { type: 'array', items: object({ ...fields, a: { ...text, description: 'Given' }, type: text }) }
  expect(write({ Large: large, Batch: object({ items }) })[1]).toBe(
    '{ items: (Large & { /** Given */ a: string type: string })[] }',
  )
})
