/**
 * During a rollout, and after a rollback, the release before reads messages of this version. It ignores fields that it does not know, and
 * dead-letters only the messages that are listed here, because of which docs/upgrade.md states the order of the services.
 * packages/contracts/src/frozen.test.ts tests the other direction.
 */
import { MESSAGES, type MessageName } from '@backstop/contracts'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { samples, schemaVersions } from '../../packages/contracts/test/frozen.ts'
import { RELEASES } from './releases.ts'

/** Samples that a release does not read, by their message, and why not. */
const NOT_READ: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.1.0': {
    'alert/v6-storm-reported': 'a new event',
    'alert/v7-storm-reported': 'a new event',
    'alert/v7-incident-acknowledged': 'a new event',
    'alert/v7-incident-resolved-by-person': 'the timeline has an entry about a person',
    'command/v3-erase-deliveries': 'a new command',
    'alert/v8-incident-opened-recovered-key': 'a new code of an incident',
    'incident/v4-recovered-key': 'a new code of an incident',
    'command/v5-open-recovered-key-incident': 'a new command',
    'command/v4-change-incident': 'a new command',
    'command/v4-change-incidents': 'a new command',
    'command/v4-mark-replayed': 'a new command',
    'command/v4-replay-inbox': 'a new command',
    'reread/v4-hint-with-event': 'a new kind of target',
  },
}
const names = Object.keys(MESSAGES) as MessageName[]

describe.each(Object.entries(RELEASES))('release %s', (release, versions) => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const readers = new Map(
    names.map(name => {
      const known = schemaVersions(name).find(({ version }) => version === versions[name])
      if (known === undefined) throw new Error(`There is no version ${versions[name]} of ${name}`)
      return [name, ajv.compile(openOf(known.schema) as object)] as const
    }),
  )

  test('reads every message of this version, except for the listed ones', () => {
    const all = names.flatMap(name => samples(name).map(({ title, message }) => ({ name, title, message })))
    expect(all.length).toBeGreaterThan(names.length)
    const refused = all.filter(({ name, message }) => !readers.get(name)!(message))
    expect(refused.map(({ name, title }) => `${name}/${title}`).sort()).toEqual(
      Object.keys(NOT_READ[release] ?? {}).sort(),
    )
  })
})

/** A schema that ignores unknown fields, as the consumers do. */
function openOf(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(openOf)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]) =>
      key === 'additionalProperties' && value === false ? [] : [[key, openOf(value)]],
    ),
  )
}
