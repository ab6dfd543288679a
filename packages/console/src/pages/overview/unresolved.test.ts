import { describe, expect, test } from 'vitest'
import { unresolvedOf } from './unresolved.ts'

const incident = (incident_id: string, opened_at: string) => ({
  incident_id,
  action_id: `act_of_${incident_id}`,
  opened_at,
})
const action = (incident_id: string, amount: number, more: { mode?: 'test'; state?: 'failed' } = {}) => ({
  ...{ incident_id, amount, currency: 'eur', state: 'succeeded' as const },
  ...more,
})
const whole = <T>(...data: T[]) => ({ data, next_cursor: null })

describe('the unresolved incidents of the overview', () => {
  const open = whole(incident('inc_2', '2026-11-23T12:00:00Z'))
  const acknowledged = whole(incident('inc_1', '2026-11-23T10:00:00Z'))

  test('are the open and the acknowledged ones, with the money of both and the time of the oldest', () => {
    const actions = whole(action('inc_1', 100), action('inc_2', 20), action('inc_resolved', 7))
    expect(unresolvedOf(open, acknowledged, actions)).toEqual({
      open: { count: 1, isComplete: true },
      acknowledged: { count: 1, isComplete: true },
      money: [{ currency: 'eur', isTest: false, amount: 120 }],
      isMoneyComplete: true,
      since: '2026-11-23T10:00:00Z',
    })
  })

  test('keep test money apart from real money, and leave out what failed', () => {
    const actions = whole(
      action('inc_1', 7, { mode: 'test' }),
      action('inc_1', 100),
      action('inc_2', 20, { state: 'failed' }),
    )
    expect(unresolvedOf(open, acknowledged, actions).money).toEqual([
      { currency: 'eur', isTest: false, amount: 100 },
      { currency: 'eur', isTest: true, amount: 7 },
    ])
  })

  test('have no known sum when the action of one is not among those that were read', () => {
    const actions = { ...whole(action('inc_1', 100)), next_cursor: 'more' }
    expect(unresolvedOf(open, acknowledged, actions)).toMatchObject({ isMoneyComplete: false })
    expect(unresolvedOf(whole(), acknowledged, actions)).toMatchObject({ isMoneyComplete: true })
  })

  test('have no known beginning and no known sum when there are more incidents than were read', () => {
    const unresolved = unresolvedOf(open, { ...acknowledged, next_cursor: 'more' }, whole(action('inc_1', 100)))
    expect(unresolved).toMatchObject({ acknowledged: { isComplete: false }, isMoneyComplete: false, since: null })
  })
})
