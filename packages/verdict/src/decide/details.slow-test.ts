/**
 * The details of actions do not depend on the order, the number and the source of their sightings, in random worlds. No
 * look is done, because a refund that a look finds by its charge's total keeps that total's details.
 */
import type { SightingDetails } from '@backstop/providers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shownDetails } from '../../test/details.ts'
import { contextAt, emptyCase, MINUTE, T0 } from '../../test/fixtures.ts'
import { nameOf } from '../../test/modelled-verdicts.ts'
import { worlds } from '../../test/random-world.ts'
import { propertySettings } from '../../test/searches.ts'
import { decide, type Input } from './decide.ts'

const RUNS = 600

const text = fc.constantFrom(null, 'a', 'b', 'c')
const details = fc.record(
  {
    origin: fc.record({
      channel: fc.constantFrom(null, 'api', 'dashboard', 'automatic'),
      key_name: text,
      user: text,
      request_id: text,
      idempotency_key: text,
    }),
    customer: fc.record({ id: text, name: text, email: text }),
    payment: fc.record({ number: text, plan: text, refund_reason: text, destination: text }),
    mode: fc.constantFrom('live', 'test'),
    dashboardUrl: fc.constantFrom('https://dashboard.example/1', 'https://dashboard.example/2'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<SightingDetails>

function withDetails(input: Input, stated: SightingDetails | undefined): Input {
  if (input.kind !== 'sighting' || stated === undefined) return input
  return { ...input, sighting: { ...input.sighting, details: stated } }
}

/** The sightings of a world in two orders, the second with repeats. */
const orders = worlds.chain(({ inputs }) => {
  const arrived = inputs.filter(({ input, isLost }) => input.kind === 'sighting' && !isLost).map(({ input }) => input)
  const all = { minLength: arrived.length, maxLength: arrived.length }
  return fc.array(fc.option(details, { nil: undefined }), all).chain(stated => {
    const detailed = arrived.map((input, index) => withDetails(input, stated[index]))
    return fc.tuple(
      fc.constant(detailed),
      fc.tuple(fc.shuffledSubarray(detailed, all), fc.subarray(detailed)).map(([order, again]) => [...order, ...again]),
    )
  })
})

function detailsAfter(inputs: readonly Input[]) {
  const theCase = inputs.reduce((next, input) => decide(next, input, contextAt(T0 + 6 * MINUTE)), emptyCase())
  return new Map(theCase.actions.map(action => [nameOf(action), shownDetails(action)]))
}

test('the details of actions do not depend on the order, the number and the source of their sightings', {
  retry: 0,
}, () => {
  const property = fc.property(orders, ([arrived, again]) => {
    expect(detailsAfter(again)).toEqual(detailsAfter(arrived))
  })
  fc.assert(property, propertySettings(RUNS))
})
