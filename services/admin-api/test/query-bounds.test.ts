import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startMemoryApi, type TestApi } from './test-api.ts'

/** The server accepts no longer headers. */
const LONGEST = 16_384

let testApi: TestApi
beforeAll(async () => {
  testApi = await startMemoryApi()
})
afterAll(() => testApi.stop())

interface TextSchema {
  readonly type?: string
  readonly maxLength?: number
  readonly enum?: readonly string[]
  readonly pattern?: string
  readonly format?: string
  readonly anyOf?: readonly TextSchema[]
}

/** True if the schema limits the length of text. Formats and closed lists do. */
function isBounded({ type, maxLength, enum: values, format, pattern, anyOf }: TextSchema): boolean {
  if (anyOf !== undefined) return anyOf.every(isBounded)
  if (type !== 'string' || values !== undefined || format !== undefined) return true
  if (maxLength !== undefined) return maxLength <= LONGEST
  return pattern !== undefined && !/[*+]/.test(pattern)
}

test('every text in a query of every route has a maximum length, and ids have 255 characters', () => {
  const found: string[] = []
  for (const { operationId, query } of testApi.app.routes) {
    const { properties = {} } = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' })
    for (const [name, schema] of Object.entries(properties)) {
      const { maxLength } = schema as TextSchema
      const isId = name.endsWith('_id') && name !== 'last_event_id'
      if (!isBounded(schema as TextSchema) || (isId && maxLength !== 255)) found.push(`${operationId} ${name}`)
    }
  }
  expect(found).toEqual([])
})
