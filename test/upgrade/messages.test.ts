/**
 * During a rollout, and after a rollback, the release before reads messages of this version. It ignores fields that it does not know, and
 * dead-letters only the messages that are listed here, because of which docs/upgrade.md states the order of the services.
 * packages/contracts/src/frozen.test.ts tests the other direction.
 */
import { MESSAGES, type MessageName } from '@backstop/contracts'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { releasedSchema, releases, samples } from '../../packages/contracts/test/frozen.ts'

/** Samples that a release does not read, by their message, and why not. */
const NOT_READ: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '0.1.0': {
    'command/archive-actions': 'a new command',
    'command/erase-person': 'a new command',
    'alert/storm-reported': 'a new event',
    'alert/storm-reported-by-actor': 'a new event',
    'alert/storm-reported-of-account': 'a new event',
    'alert/storm-reported-of-burst': 'a new event',
    'alert/storm-reported-of-many-accounts': 'a new event',
    'alert/incident-acknowledged': 'a new event',
    'alert/incident-resolved-by-person': 'the timeline has an entry about a person',
    'command/erase-deliveries': 'a new command',
    'alert/incident-opened-recovered-key': 'a new code of an incident',
    'alert/incident-opened-refunded-twice': 'a new code of an incident',
    'alert/incident-opened-canary-used': 'a new code of an incident',
    'alert/incident-opened-unexplained-burst': 'a new code of an incident',
    'alert/incident-resolved-unexplained-burst': 'a new code of an incident',
    'incident/unexplained-burst': 'a new code of an incident',
    'incident/recovered-key': 'a new code of an incident',
    'incident/refunded-twice': 'a new code of an incident',
    'incident/canary-used': 'a new code of an incident',
    'command/open-recovered-key-incident': 'a new command',
    'command/change-incident': 'a new command',
    'command/change-incidents': 'a new command',
    'command/mark-replayed': 'a new command',
    'command/replay-inbox': 'a new command',
    'reread/hint-with-event': 'a new kind of target',
    'reread/thin-event-of-account': 'a new kind of target',
  },
  '0.2.0': {
    'command/archive-actions': 'a new command',
    'command/erase-person': 'a new command',
    'alert/incident-opened-recovered-key': 'a new code of an incident',
    'alert/incident-opened-refunded-twice': 'a new code of an incident',
    'alert/incident-opened-canary-used': 'a new code of an incident',
    'alert/incident-opened-unexplained-burst': 'a new code of an incident',
    'alert/incident-resolved-unexplained-burst': 'a new code of an incident',
    'incident/unexplained-burst': 'a new code of an incident',
    'incident/refunded-twice': 'a new code of an incident',
    'incident/canary-used': 'a new code of an incident',
    'command/open-recovered-key-incident': 'a new command',
    'incident/recovered-key': 'a new code of an incident',
  },
}
const names = Object.keys(MESSAGES) as MessageName[]

describe.each(releases())('release %s', release => {
  const ajv = new Ajv({ strict: false, validateFormats: false })
  const readers = new Map(
    names.flatMap(name => {
      const known = releasedSchema(release, name)
      return known === undefined ? [] : [[name, ajv.compile(openOf(known) as object)] as const]
    }),
  )

  test('reads every message of this version, except for the listed ones', () => {
    const all = names.flatMap(name => samples(name).map(({ title, message }) => ({ name, title, message })))
    expect(all.length).toBeGreaterThan(names.length)
    const refused = all.filter(({ name, message }) => !readers.get(name)?.(message))
    expect([...new Set(refused.map(({ name, title }) => `${name}/${title}`))].sort()).toEqual(
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
