import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WEBHOOK_EVENTS } from '@backstop/contracts'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { FOLDER, webhookDocs } from './files.ts'

const RUN = 'run: npm run webhook-docs'
const onFile = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const page = readFileSync(`${FOLDER}.md`, 'utf8')

test('docs/webhooks has the current schemas and examples, and nothing else', () => {
  const files = webhookDocs()
  expect(readdirSync(FOLDER).sort(), RUN).toEqual([...files.keys()].sort())
  for (const [name, content] of files) expect(onFile(name), RUN).toBe(content)
})

describe.each(WEBHOOK_EVENTS)('the event %s', event => {
  // Formats in the schemas are documentation, so they are not validated.
  const validate = new Ajv2020({ validateFormats: false, allErrors: true }).compile(
    JSON.parse(onFile(`${event}.schema.json`)),
  )
  const example = JSON.parse(onFile(`${event}.example.json`))

  test('has a schema that its example fits', () => {
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true)
  })

  test('has a schema that accepts new fields and refuses a document that lacks one', () => {
    expect(validate({ ...example, data: { ...example.data, later: 1 }, later: 1 })).toBe(true)
    for (const field of Object.keys(example)) expect(validate({ ...example, [field]: undefined })).toBe(false)
    expect(validate({ ...example, data: {} })).toBe(false)
  })

  test('is on the page with its schema and example', () => {
    expect(page).toContain(`| \`${event}\` |`)
    expect(page).toContain(`](webhooks/${event}.schema.json)`)
    expect(page).toContain(`](webhooks/${event}.example.json)`)
  })
})
