import { describe, expect, test } from 'vitest'
import { samples, schemaVersions } from '../test/frozen.ts'
import { registrySchema } from './json-schema.ts'
import { MESSAGES, type MessageName } from './messages/index.ts'
import { incompatibilities } from './schema-compatibility.ts'
import { unframe } from './wire-format.ts'

const names = Object.keys(MESSAGES) as MessageName[]
const FREEZE = 'run: npm run freeze -w @backstop/contracts'

describe.each(names)('the message %s', name => {
  test("has today's schema as its latest version on file", () => {
    expect(registrySchema(name), `The schema was changed; ${FREEZE}`).toEqual(schemaVersions(name).at(-1)?.schema)
  })

  test('reads the data of every earlier version', () => {
    const reasons = schemaVersions(name).flatMap(({ version, schema }) =>
      incompatibilities(schema, registrySchema(name)).map(reason => `version ${version}: ${reason}`),
    )
    expect(reasons).toEqual([])
  })

  test('has consecutive versions, and samples of the first', () => {
    expect(schemaVersions(name).map(({ version }) => version)).toEqual(
      schemaVersions(name).map((_, index) => index + 1),
    )
    expect(samples(name).some(({ title }) => title.startsWith('v1-'))).toBe(true)
  })

  test.each(samples(name))('reads the stored bytes of $title unchanged', ({ message, bytes }) => {
    expect(bytes, `The sample has no bytes; ${FREEZE}`).toBeDefined()
    const unframed = unframe(bytes!)
    if (unframed.kind !== 'framed') throw new Error(unframed.reason)
    expect(MESSAGES[name].schema.parse(JSON.parse(unframed.json.toString('utf8')))).toEqual(message)
  })
})

test('every member of a union and every provider has a sample', () => {
  const messages = (name: MessageName) => samples(name).map(({ message }) => message as Record<string, unknown>)
  expect(new Set(messages('alert').map(({ event }) => event))).toEqual(
    new Set(MESSAGES.alert.schema.options.map(option => option.shape.event.value)),
  )
  expect(new Set(messages('inbound-event').map(({ provider }) => provider))).toEqual(
    new Set(['processor', 'reseller', 'subscription']),
  )
})
