/** The tests of normalisation that every provider must pass. A new provider calls describeMeaning with its samples. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../src/provider.ts'
import type { EventOrigin, Normalised, Sighting } from '../src/sighting.ts'
import type { ProviderSamples } from './samples/index.ts'

const SITE = 'acme'
const READ_AT = Date.parse('2025-12-31T00:00:00Z')
const ODD_VALUES: readonly unknown[] = [
  undefined,
  null,
  '',
  ' ',
  7,
  -1,
  1.5,
  true,
  [],
  [null],
  {},
  { id: 7 },
  { length: { toString: 0 } },
  'x'.repeat(300),
]

type Json = Readonly<Record<string, unknown>>

export function describeMeaning(provider: Provider, { events, objects, decisive }: ProviderSamples): void {
  const origin = (eventType: string, projectId = 'prj_a'): EventOrigin => ({
    projectId,
    connectionId: `con_of_${projectId}`,
    eventId: 'evt_1',
    eventType,
  })
  const meaningOf = (type: string, event: Json, projectId?: string) =>
    provider.normaliseEvent(origin(type, projectId), event)
  const readingOf = (type: string, object: Json, projectId = 'prj_a') =>
    provider.normaliseObject(
      { projectId, connectionId: `con_of_${projectId}`, site: SITE, readAt: READ_AT },
      type,
      object,
    )
  /** The sightings of all sample events and objects in a project. */
  const allSightings = (projectId: string) =>
    [
      ...Object.entries(events).map(([type, event]) => meaningOf(type, event, projectId)),
      ...Object.entries(objects).map(([type, object]) => readingOf(type, object, projectId)),
    ].flatMap(sightingsOf)
  const samples = Object.entries(events).map(([type, event]) => ({ type, event }))
  const things = Object.entries(objects).map(([type, object]) => ({ type, object }))

  describe(`the normalisation of the ${provider.kind} provider`, () => {
    test('has a sample of every event to subscribe to', () => {
      expect(Object.keys(events)).toEqual(expect.arrayContaining([...provider.subscribedEvents]))
    })

    test.each(samples)('identifies $type and gives it a meaning', ({ type, event }) => {
      expect(provider.identify(event)).toMatchObject({ kind: 'identified', eventType: type })
      expect(meaningOf(type, event).kind).toMatch(/^(observed|hint)$/)
    })

    test.each(samples)('gives $type the partition key of its payment or subscription', ({ type, event }) => {
      const identified = provider.identify(event)
      const subject = identified.kind === 'identified' ? identified.subject : null
      const meaning = meaningOf(type, event)
      expect(subject).not.toBeNull()
      if (meaning.kind === 'observed') expect(meaning.sightings[0]?.subject).toBe(subject)
    })

    test.each(things)('gives sightings for an object of type $type', ({ type, object }) => {
      expect(readingOf(type, object)).toMatchObject({ kind: 'observed' })
    })

    test('ignores an unknown type, and names it in the reason', () => {
      const [event] = Object.values(events)
      expect(meaningOf('a.type.of.next.year', event ?? {})).toEqual({
        kind: 'ignored',
        reason: expect.stringContaining('a.type.of.next.year'),
      })
      expect(readingOf('thing_of_next_year', {})).toEqual({
        kind: 'ignored',
        reason: expect.stringContaining('thing_of_next_year'),
      })
      // The names of inherited properties must be unknown types too.
      expect(meaningOf('constructor', event ?? {}).kind).toBe('ignored')
      expect(readingOf('__proto__', {}).kind).toBe('ignored')
    })

    test('does not change its input, and is repeatable', () => {
      for (const { type, event } of samples) {
        const before = JSON.stringify(event)
        expect(meaningOf(type, event)).toEqual(meaningOf(type, event))
        expect(JSON.stringify(event)).toBe(before)
      }
    })
  })

  describe(`the identities of the ${provider.kind} provider`, () => {
    test('are equal for all sightings of one object, and differ between objects', () => {
      const identities = new Map<string, Set<string>>()
      for (const sighting of allSightings('prj_a')) {
        const object = `${kindOf(sighting)} ${refOf(sighting)}`
        identities.set(object, (identities.get(object) ?? new Set()).add(sighting.identity))
      }
      expect(identities.size).toBeGreaterThan(0)
      const each = [...identities.values()].map(set => [...set])
      expect(each.filter(set => set.length !== 1)).toEqual([])
      expect(new Set(each.flat()).size).toBe(identities.size)
    })

    test("differ between projects, though the provider's ids are the same", () => {
      const [mine, theirs] = [allSightings('prj_a'), allSightings('prj_b')].map(all =>
        all.flatMap(sighting => [sighting.identity, ...sighting.refs]),
      )
      expect(mine?.filter(name => !name.startsWith('prj_a/'))).toEqual([])
      expect(theirs?.filter(name => mine?.includes(name))).toEqual([])
    })

    test('do not depend on a project or connection that the body names', () => {
      const claims = { project_id: 'prj_b', projectId: 'prj_b', connection_id: 'con_b', site: 'other' }
      for (const { type, event } of samples) {
        expect(meaningOf(type, { ...event, ...claims })).toEqual(meaningOf(type, event))
      }
    })
  })

  describe(`an odd event of the ${provider.kind} provider`, () => {
    test('has the same identity if any field except the decisive fields is odd or absent', () => {
      for (const { type, event } of samples) {
        const expected = objectOf(meaningOf(type, event))
        for (const path of pathsIn(event).filter(path => !decisive.test(path.join('.')))) {
          for (const value of ODD_VALUES) {
            const odd = objectOf(meaningOf(type, replaced(event, path, value)))
            // Thousands of expectations would be slow, so only a difference is passed to expect.
            if (isDeepStrictEqual(odd, expected)) continue
            expect(odd, `${type} with ${path.join('.')} = ${JSON.stringify(value)}`).toEqual(expected)
          }
        }
      }
    })

    test('never throws for any value of one field', () => {
      const spots = samples.flatMap(({ type, event }) => pathsIn(event).map(path => ({ type, event, path })))
      fc.assert(
        fc.property(fc.constantFrom(...spots), fc.jsonValue(), ({ type, event, path }, value) => {
          expect(meaningOf(type, replaced(event, path, value)).kind).toMatch(/^(observed|hint|ignored|malformed)$/)
        }),
        { numRuns: 500 },
      )
    })

    test('never throws for any JSON', () => {
      const types = fc.oneof(fc.constantFrom(...Object.keys(events)), fc.string())
      fc.assert(
        fc.property(types, fc.dictionary(fc.string(), fc.jsonValue()), (type, event) => {
          expect(meaningOf(type, event).kind).toMatch(/^(observed|hint|ignored|malformed)$/)
        }),
        { numRuns: 500 },
      )
      const objectTypes = fc.oneof(fc.constantFrom(...Object.keys(objects)), fc.string())
      fc.assert(
        fc.property(objectTypes, fc.dictionary(fc.string(), fc.jsonValue()), (type, object) => {
          expect(readingOf(type, object).kind).toMatch(/^(observed|ignored|malformed)$/)
        }),
        { numRuns: 500 },
      )
    })

    test('is malformed with a reason that names the field', () => {
      for (const { type } of samples) {
        expect(meaningOf(type, {})).toEqual({ kind: 'malformed', reason: expect.stringMatching(/^[a-z_.]+: [A-Z]/) })
      }
    })
  })
}

function sightingsOf(meaning: Normalised): readonly Sighting[] {
  return meaning.kind === 'observed' ? meaning.sightings : []
}

function kindOf(sighting: Sighting): string {
  return sighting.kind === 'record' ? sighting.record : sighting.kind
}

function refOf(sighting: Sighting): string {
  switch (sighting.kind) {
    case 'action':
    case 'record':
      return sighting.providerRef
    case 'refund_total':
      return sighting.chargeId
    case 'subscription':
      return sighting.subject
    default:
      return sighting satisfies never
  }
}

/** The object that a meaning is about: the identity of the first sighting, or the first target of a hint. */
function objectOf(meaning: Normalised): unknown {
  switch (meaning.kind) {
    case 'observed':
      return meaning.sightings[0]?.identity
    case 'hint':
      return meaning.targets[0]
    default:
      return meaning
  }
}

/** The paths of all fields of an event. Of a list only the first entry is included. */
function pathsIn(value: unknown, depth = 4): string[][] {
  if (typeof value !== 'object' || value === null || depth === 0) return []
  return Object.entries(value)
    .filter(([name]) => !Array.isArray(value) || name === '0')
    .flatMap(([name, inner]) => [[name], ...pathsIn(inner, depth - 1).map(path => [name, ...path])])
}

function replaced(event: Json, path: readonly string[], value: unknown): Json {
  const copy = structuredClone(event) as Record<string, unknown>
  const last = path.at(-1) as string
  const holder = path.slice(0, -1).reduce((inner, name) => inner[name] as Record<string, unknown>, copy)
  if (value === undefined) delete holder[last]
  else holder[last] = value
  return copy
}
