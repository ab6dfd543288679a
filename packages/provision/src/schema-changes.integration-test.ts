import { MESSAGES, type MessageName, registrySchema, registrySubject, schemaText } from '@backstop/contracts'
import { schemaChanges } from '@backstop/contracts/test'
import { createHttpExchange, createSchemaRegistry, registerSchema, type SchemaRegistry } from '@backstop/kit/registry'
import { type TestStack, testStack } from '@backstop/kit/test'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let stack: TestStack
let registry: SchemaRegistry
beforeAll(async () => {
  stack = await testStack()
  // The registry of a busy machine needs more than the usual five seconds to compare two versions of an alert.
  registry = createSchemaRegistry(stack.registryUrl, createHttpExchange({}, 120_000))
})
afterAll(() => stack.close())

const $schema = 'http://json-schema.org/draft-07/schema#'

describe('the registry says of a change what our own check says', () => {
  test.each(schemaChanges)('$name: $verdict', async ({ name, older, newer, verdict }) => {
    const subject = `${stack.topicPrefix}${name.replace(/\W+/g, '-')}-value`
    await registerSchema(registry, subject, schemaText({ $schema, ...older }))
    const registering = registerSchema(registry, subject, schemaText({ $schema, ...newer }))
    if (verdict === 'compatible') await expect(registering).resolves.toBeTypeOf('number')
    else await expect(registering).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('a message type', () => {
  test.each(Object.keys(MESSAGES) as MessageName[])(
    '%s is registered, and refused with one more required field',
    async name => {
      const subject = registrySubject(name, `${stack.topicPrefix}real.`)
      await registerSchema(registry, subject, schemaText(registrySchema(name)))
      const changed = schemaText(withRequiredField(registrySchema(name)))
      await expect(registerSchema(registry, subject, changed)).rejects.toMatchObject({ code: 'conflict' })
    },
  )
})

interface ObjectSchema {
  readonly oneOf?: readonly ObjectSchema[]
  readonly properties?: object
  readonly required?: readonly string[]
}

function withRequiredField(schema: ObjectSchema): Record<string, unknown> {
  if (schema.oneOf !== undefined) return { ...schema, oneOf: schema.oneOf.map(withRequiredField) }
  const properties = { ...schema.properties, added_later: { type: 'string' } }
  return { ...schema, properties, required: [...(schema.required ?? []), 'added_later'] }
}
