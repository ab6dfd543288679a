/** What every provider promises of what its events mean. A new provider calls this with samples of them. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Provider } from '../src/provider.ts'
import type { EventOrigin, Normalised, Sighting } from '../src/sighting.ts'
import type { ProviderSamples } from './samples.ts'

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
  /** Everything that the samples show in a project, pushed and read. */
  const shown = (projectId: string) =>
    [
      ...Object.entries(events).map(([type, event]) => meaningOf(type, event, projectId)),
      ...Object.entries(objects).map(([type, object]) => readingOf(type, object, projectId)),
    ].flatMap(sightingsOf)
  const samples = Object.entries(events).map(([type, event]) => ({ type, event }))
  const things = Object.entries(objects).map(([type, object]) => ({ type, object }))

  describe(`what events of the ${provider.kind} provider mean`, () => {
    test('there is a sample of every event that its endpoint is to have', () => {
      expect(Object.keys(events)).toEqual(expect.arrayContaining([...provider.subscribedEvents]))
    })

    test.each(samples)('$type is identified, and means something', ({ type, event }) => {
      expect(provider.identify(event)).toMatchObject({ kind: 'identified', eventType: type })
      expect(meaningOf(type, event).kind).toMatch(/^(observed|hint)$/)
    })

    test.each(samples)('$type goes to the partition of what it is about', ({ type, event }) => {
      const identified = provider.identify(event)
      const subject = identified.kind === 'identified' ? identified.subject : null
      const meaning = meaningOf(type, event)
      expect(subject).not.toBeNull()
      if (meaning.kind === 'observed') expect(meaning.sightings[0]?.subject).toBe(subject)
    })

    test.each(things)('an object of type $type means something, and is no hint', ({ type, object }) => {
      expect(readingOf(type, object)).toMatchObject({ kind: 'observed' })
    })

    test('a type that nobody knows is ignored, and the reason names it', () => {
      const [event] = Object.values(events)
      expect(meaningOf('a.type.of.next.year', event ?? {})).toEqual({
        kind: 'ignored',
        reason: expect.stringContaining('a.type.of.next.year'),
      })
      expect(readingOf('thing_of_next_year', {})).toEqual({
        kind: 'ignored',
        reason: expect.stringContaining('thing_of_next_year'),
      })
      // Names that every JavaScript object has are unknown types, too.
      expect(meaningOf('constructor', event ?? {}).kind).toBe('ignored')
      expect(readingOf('__proto__', {}).kind).toBe('ignored')
    })

    test('reading changes nothing, and says the same again', () => {
      for (const { type, event } of samples) {
        const before = JSON.stringify(event)
        expect(meaningOf(type, event)).toEqual(meaningOf(type, event))
        expect(JSON.stringify(event)).toBe(before)
      }
    })
  })

  describe(`the identities of the ${provider.kind} provider`, () => {
    test('are the same for everything that tells of one object, and differ for all others', () => {
      const identities = new Map<string, Set<string>>()
      for (const one of shown('prj_a')) {
        const object = `${kindOf(one)} ${refOf(one)}`
        identities.set(object, (identities.get(object) ?? new Set()).add(one.identity))
      }
      expect(identities.size).toBeGreaterThan(0)
      const each = [...identities.values()].map(set => [...set])
      expect(each.filter(set => set.length !== 1)).toEqual([])
      expect(new Set(each.flat()).size).toBe(identities.size)
    })

    test("of one project have nothing in common with another's, though the provider's ids are the same", () => {
      const [mine, theirs] = [shown('prj_a'), shown('prj_b')].map(all =>
        all.flatMap(one => [one.identity, ...one.refs]),
      )
      expect(mine?.filter(name => !name.startsWith('prj_a/'))).toEqual([])
      expect(theirs?.filter(name => mine?.includes(name))).toEqual([])
    })

    test('do not follow the body, whatever project or connection it claims', () => {
      const claims = { project_id: 'prj_b', projectId: 'prj_b', connection_id: 'con_b', site: 'other' }
      for (const { type, event } of samples) {
        expect(meaningOf(type, { ...event, ...claims })).toEqual(meaningOf(type, event))
      }
    })
  })

  describe(`an odd event of the ${provider.kind} provider`, () => {
    test('hides nothing: with any field but the decisive ones odd or absent it tells of the same object', () => {
      for (const { type, event } of samples) {
        const expected = nameOf(meaningOf(type, event))
        for (const path of pathsIn(event).filter(path => !decisive.test(path.join('.')))) {
          for (const value of ODD_VALUES) {
            const odd = nameOf(meaningOf(type, replaced(event, path, value)))
            // An expectation for each of the many thousands would take most of the time.
            if (isDeepStrictEqual(odd, expected)) continue
            expect(odd, `${type} with ${path.join('.')} = ${JSON.stringify(value)}`).toEqual(expected)
          }
        }
      }
    })

    test('never becomes an exception, whatever one field of it holds', () => {
      const spots = samples.flatMap(({ type, event }) => pathsIn(event).map(path => ({ type, event, path })))
      fc.assert(
        fc.property(fc.constantFrom(...spots), fc.jsonValue(), ({ type, event, path }, value) => {
          expect(meaningOf(type, replaced(event, path, value)).kind).toMatch(/^(observed|hint|ignored|malformed)$/)
        }),
        { numRuns: 500 },
      )
    })

    test('never becomes an exception, whatever JSON it is', () => {
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

    test('is malformed with a reason that says where', () => {
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

/** What a meaning is about: the identity of the first sighting, or the first thing to read. */
function nameOf(meaning: Normalised): unknown {
  switch (meaning.kind) {
    case 'observed':
      return meaning.sightings[0]?.identity
    case 'hint':
      return meaning.targets[0]
    default:
      return meaning
  }
}

/** Every field of the event, lists by their first entry only. */
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
