/**
 * The details that a provider gives: origin, customer, payment, mode and link, from samples in the official form. Missing and hostile
 * values are absent facts, and never make an object malformed.
 */
import type { ProviderKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { PROVIDERS } from '../src/registry.ts'
import type { Normalised, ObjectOrigin, Sighting, SightingDetails } from '../src/sighting.ts'

type Json = Readonly<Record<string, unknown>>

export const READ = { projectId: 'prj_1', connectionId: 'con_1', readAt: Date.parse('2025-12-31T00:00:00Z') }
const SITES: Readonly<Record<ProviderKind, string | null>> = { processor: null, reseller: null, subscription: 'acme' }

function sightingIn(meaning: Normalised): Sighting {
  const [first] = meaning.kind === 'observed' ? meaning.sightings : []
  if (first === undefined) throw new Error(`There is no sighting: ${JSON.stringify(meaning)}`)
  return first
}

/** The details of the first sighting of an event that is pushed. */
export function pushed(kind: ProviderKind, eventType: string, event: object): SightingDetails | undefined {
  const origin = { projectId: 'prj_1', connectionId: 'con_1', eventId: 'evt_1', eventType }
  return sightingIn(PROVIDERS[kind].normaliseEvent(origin, { ...event })).details
}

/** The details of the first sighting of an object that is read. */
export function read(kind: ProviderKind, type: string, object: object, more: Partial<ObjectOrigin> = {}) {
  return sightingIn(PROVIDERS[kind].normaliseObject({ ...READ, site: SITES[kind], ...more }, type, { ...object }))
    .details
}

export const origin = (known: Partial<SightingDetails['origin']>) => ({
  channel: null,
  key_name: null,
  user: null,
  request_id: null,
  idempotency_key: null,
  ...known,
})
export const payment = (known: Partial<SightingDetails['payment']>) => ({
  number: null,
  plan: null,
  refund_reason: null,
  destination: null,
  ...known,
})

export interface Row {
  readonly name: string
  readonly given: () => SightingDetails | undefined
  readonly details: SightingDetails
}

const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  7,
  true,
  [],
  {},
  { id: {} },
  'x'.repeat(10_000),
  'a\u0000b',
  'a\nb',
  'a\u009bb',
  'a\u2028b',
  'a\u202eb',
  '\ud800',
]

/** An object, and the paths of its fields that are details or contain details. */
export interface DetailFields {
  readonly type: string
  readonly given: Json
  readonly paths: readonly string[]
}

export function hostileDetailsSuite(kind: ProviderKind, fields: readonly DetailFields[]): void {
  describe('a missing or hostile value', () => {
    const spots = fields.flatMap(({ paths, ...given }) => paths.map(path => ({ kind, ...given, path })))

    test.each(spots)('in $path of the $kind ($type) is an absent fact', ({ type, given, path }) => {
      const known = new Set(factsIn(read(kind, type, given, { mode: 'live' })))
      for (const value of HOSTILE) {
        const object = withValue(given, path.split('.'), value)
        const facts = factsIn(read(kind, type, object, { mode: 'live' }))
        // Another field may take the place of the missing one, so only the form of the facts is known.
        for (const fact of facts.filter(fact => !known.has(fact))) {
          expect(fact.length, `${path} = ${JSON.stringify(value)}`).toBeLessThanOrEqual(300)
          expect(fact, `${path} = ${JSON.stringify(value)}`).toMatch(/^[^\p{Cc}\p{Zl}\p{Cs}\u202e]+$/u)
          expect(fact, `${path} = ${JSON.stringify(value)}`).not.toContain('object Object')
        }
      }
    })
  })
}

/** The texts of all facts. */
function factsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(factsIn) : []
}

function withValue(object: Json, path: readonly string[], value: unknown): Json {
  const copy = structuredClone(object) as Record<string, unknown>
  const holder = path.slice(0, -1).reduce((inner, name) => inner[name] as Record<string, unknown>, copy)
  holder[path.at(-1) as string] = value
  return copy
}
