import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { broken, freeze } from '../test/freeze.ts'
import { CONTRACTS_FOLDER, NEXT, releasedSchema, releases, samples } from '../test/frozen.ts'
import { frame, unframe } from './kafka/wire-format.ts'
import { MESSAGES, type MessageName } from './messages/index.ts'
import { registrySchema } from './messages/json-schema.ts'

const names = Object.keys(MESSAGES) as MessageName[]

test('the schemas of a release are frozen, and those of the code after it are not yet', () => {
  const isRelease = !manifest.version.endsWith('-dev')
  expect(releases().includes(manifest.version), 'at a release run: npm run freeze -w @backstop/contracts').toBe(
    isRelease,
  )
})

describe.each(names)('the message %s', name => {
  test('reads the data of every release', () => {
    expect(broken(name)).toEqual([])
  })

  test.each(samples(name))('reads $title of $release unchanged', ({ release, message, bytes }) => {
    expect(bytes !== undefined, 'samples have bytes from their release on').toBe(release !== NEXT)
    const unframed = unframe(bytes ?? frame(1, JSON.stringify(message)))
    if (unframed.kind !== 'framed') throw new Error(unframed.reason)
    expect(MESSAGES[name].schema.parse(JSON.parse(unframed.json.toString('utf8')))).toEqual(message)
  })
})

test('every message, every member of a union and every provider has a sample', () => {
  const messages = (name: MessageName) => samples(name).map(({ message }) => message as Record<string, unknown>)
  expect(names.filter(name => messages(name).length === 0)).toEqual([])
  expect(new Set(messages('alert').map(({ event }) => event))).toEqual(
    new Set(MESSAGES.alert.schema.options.map(option => option.shape.event.value)),
  )
  expect(new Set(messages('inbound-event').map(({ provider }) => provider))).toEqual(
    new Set(['processor', 'reseller', 'subscription']),
  )
})

describe('freezing a release', () => {
  const folder = mkdtempSync(join(tmpdir(), 'contracts-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  for (const part of ['schemas', 'samples'])
    cpSync(join(CONTRACTS_FOLDER, part), join(folder, part), { recursive: true })
  const before = names.flatMap(name => samples(name, folder))

  test('keeps the schemas as the registry gets them, and the bytes of the samples that were new', () => {
    freeze('99.10.0', folder)
    for (const name of names) expect(releasedSchema('99.10.0', name, folder)).toEqual(registrySchema(name))
    const after = names.flatMap(name => samples(name, folder))
    expect(after.filter(({ bytes }) => bytes === undefined)).toEqual([])
    expect(after.map(({ message }) => message)).toEqual(expect.arrayContaining(before.map(({ message }) => message)))
    expect(readdirSync(join(folder, 'samples'))).not.toContain(NEXT)
  })

  test('refuses a version between two releases', () => {
    expect(() => freeze('99.11.0-dev', folder)).toThrow('99.11.0-dev is no release')
  })

  test('refuses to change a release that is frozen, and orders releases by their numbers', () => {
    expect(() => freeze('99.10.0', folder)).toThrow('The schemas of 99.10.0 are frozen already')
    freeze('99.9.0', folder)
    expect(releases(folder).slice(-2)).toEqual(['99.9.0', '99.10.0'])
  })
})
