import { COLLECTIONS, PERSONAL_DATA_DAYS } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { madeBy, ofCustomer } from '../../test/details.ts'
import { lookAll, MINUTE, onlyAction, operationSeen, play, T0, unexpectedActionIncident } from '../../test/fixtures.ts'
import { refundShown, sightingInput, totalShown } from '../../test/sightings.ts'
import { alertEntry } from '../show/outbox-entries.ts'
import { erasePersonalData } from './personal-data.ts'

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
