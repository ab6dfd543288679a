import { COLLECTIONS, PERSONAL_DATA_DAYS } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { madeBy, ofCustomer } from '../../test/details.ts'
import { lookAll, MINUTE, onlyAction, play, T0, unexpectedActionIncident } from '../../test/fixtures.ts'
import { refundShown, sightingInput } from '../../test/sightings.ts'
import { alertEntry } from '../verdict/outbox-entries.ts'

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
