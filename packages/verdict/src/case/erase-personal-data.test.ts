import { COLLECTIONS, PERSONAL_DATA_DAYS } from '@backstop/contracts'
import { PROVIDERS } from '@backstop/providers'
import { describe, expect, test } from 'vitest'
import { madeBy, ofCustomer } from '../../test/details.ts'
import { lookAll, MINUTE, onlyAction, operationSeen, play, T0, unexpectedActionIncident } from '../../test/fixtures.ts'
import { refundShown, sightingInput, totalShown } from '../../test/sightings.ts'
import { alertEntry } from '../show/outbox-entries.ts'
import { erasePersonalData } from './erase-personal-data.ts'
import { createPersonMatcher } from './person.ts'

const DAY_S = 86_400
const DAY = 1_000 * DAY_S

/** The text of an alert about a refund that was first seen so many days ago. */
function alertAfter(days: number): string {
  const people = { ...ofCustomer('Ann Canary', 'ann@example.com'), ...madeBy({ channel: 'dashboard', user: 'bo' }) }
  const seen = play([{ at: T0 + MINUTE, input: sightingInput(refundShown({ details: people })) }])
  const theCase = lookAll(seen)
  const action = onlyAction(theCase)
  const incident = unexpectedActionIncident(action)
  if (incident === undefined) throw new Error('There is no incident')
  return JSON.stringify(alertEntry(theCase, action, incident, 'incident.resolved', action.firstSeenAt + days * DAY))
}

describe('an alert', () => {
  test('contains the customer and the user only while its deliveries expire before the personal data of the action', () => {
    const kept = COLLECTIONS.deliveries.indexes.flatMap(index =>
      'options' in index && 'expireAfterSeconds' in index.options ? [index.options.expireAfterSeconds / DAY_S] : [],
    )
    expect(kept).toHaveLength(1)
    const lastDay = PERSONAL_DATA_DAYS - (kept[0] ?? 0)
    expect(alertAfter(lastDay - 0.001)).toMatch(/Ann Canary.*ann@example\.com/)
    expect(alertAfter(lastDay)).not.toMatch(/Ann Canary|ann@example\.com|"user":"bo"/)
  })
})

test('the details of a charge do not bring back personal data that was erased from its first refund', () => {
  const people = ofCustomer('Ann Canary', 'ann@example.com')
  const shownAt = (at: number, total: number, before: number) => ({
    at: at + MINUTE,
    input: sightingInput({ ...totalShown(total, before, at, T0), details: people }),
  })
  const half = { refundedBefore: T0 + 90 * DAY, now: T0 + PERSONAL_DATA_DAYS * DAY + DAY }
  const seen = play([
    { at: T0 + MINUTE, input: sightingInput(refundShown({ amount: 100, details: people })) },
    shownAt(half.refundedBefore, 200, 100),
  ])
  const erased = erasePersonalData(seen, 'expired', half.now)
  expect(JSON.stringify(erased.refundTotals)).toContain('Ann Canary')
  const later = play([{ at: half.now, input: operationSeen({ operation_id: 'op_later' }) }], erased)
  expect(JSON.stringify(later.actions)).not.toMatch(/Ann Canary|ann@example/)
})

const SCOPE = {
  erasureId: 'era_1',
  person: createPersonMatcher({ customer_id: null, email: 'ann@example.com' }, PROVIDERS),
}

describe('after people asked to erase a customer,', () => {
  const customer = ofCustomer('Ann Canary', 'ann@example.com')
  const clerk = { ...customer, ...madeBy({ channel: 'dashboard', user: 'bo@shop.example' }) }
  const erased = erasePersonalData(
    play([{ at: T0 + MINUTE, input: sightingInput(refundShown({ details: clerk })) }]),
    SCOPE,
    T0 + MINUTE,
  )

  test('the case still names the member of the team who made the refund', () => {
    expect(JSON.stringify(erased.actions)).toContain('bo@shop.example')
    expect(JSON.stringify(erased)).not.toMatch(/Ann Canary|ann@example/)
  })

  test('alerts about its refund do not name the customer, but the member of the team', () => {
    const text = JSON.stringify(lookAll(erased).outbox)
    expect(text).toContain('bo@shop.example')
    expect(text).not.toMatch(/Ann Canary|ann@example/)
  })

  test('a repeat of the sighting changes nothing', () => {
    const repeat = { at: T0 + MINUTE, input: sightingInput(refundShown({ details: clerk })) }
    expect(play([repeat], erased)).toEqual(erased)
  })

  test('a customer who acts on a page of the provider is not kept as the user either', () => {
    const hosted = { ...customer, ...madeBy({ channel: 'hosted_page', user: 'ann@example.com' }) }
    const seen = play([{ at: T0 + MINUTE, input: sightingInput(refundShown({ details: hosted })) }])
    expect(JSON.stringify(erasePersonalData(seen, SCOPE, T0))).not.toContain('ann@example.com')
  })

  test('an idempotency key with the address is erased, and the name of the key is kept', () => {
    const keys = { channel: 'api', key_name: 'ops@shop.example', idempotency_key: 'refund of ann@example.com' } as const
    const seen = play([{ at: T0 + MINUTE, input: sightingInput(refundShown({ details: madeBy(keys) })) }])
    const text = JSON.stringify(erasePersonalData(seen, SCOPE, T0).actions)
    expect(text).toContain('ops@shop.example')
    expect(text).not.toContain('ann@example.com')
  })

  test('the address of the customer that a caller of the API claimed is erased, now and later, and another user is kept', () => {
    const claimed = (user: string, details: object = {}) => ({
      at: T0 + MINUTE,
      input: sightingInput(refundShown({ details: { ...details, ...madeBy({ channel: 'api', user }) } })),
    })
    const textOf = (theCase: ReturnType<typeof play>) => JSON.stringify(theCase.actions)
    expect(textOf(erasePersonalData(play([claimed('Ann@example.com')]), SCOPE, T0))).not.toMatch(/ann@example/i)
    expect(textOf(erasePersonalData(play([claimed('bo@shop.example')]), SCOPE, T0))).toContain('bo@shop.example')
    const unmade = play([{ at: T0, input: sightingInput(refundShown({ details: customer })) }])
    const later = play([claimed('Ann@example.com', customer)], erasePersonalData(unmade, SCOPE, T0))
    expect(textOf(later)).toContain('"channel":"api"')
    expect(textOf(later)).not.toMatch(/ann@example/i)
  })
})
