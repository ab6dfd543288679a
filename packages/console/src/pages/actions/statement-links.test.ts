import { describe, expect, test } from 'vitest'
import type { StatementLine } from '../../api/actions.ts'
import { searchOf } from './statement-links.ts'

function lineOf(category: StatementLine['category'], line: Partial<StatementLine> = {}): StatementLine {
  return { category, kind: 'refund', currency: 'eur', mode: 'live', count: 1, amount: 100, ...line }
}
const ours = lineOf('made_by_our_software')
const unexplained = lineOf('unexplained')

describe('the list behind a line of a statement', () => {
  test('is filtered by verdict, kind, currency and mode', () => {
    const others = [unexplained, lineOf('other', { kind: 'cancellation', currency: null })]
    const search = { verdict: 'explained', kind: 'refund', currency: 'eur', mode: 'live' }
    expect(searchOf([ours], [ours, ...others])).toEqual(search)
    expect(searchOf([unexplained], [ours, ...others])).toEqual({ ...search, verdict: 'unexplained' })
  })

  test.each([
    ['an expected change is explained too', ours, lineOf('expected')],
    ['an action from before the connection is explained too', ours, lineOf('other')],
    ['a failed refund keeps its verdict', unexplained, lineOf('not_carried_out')],
    ['no filter is for the category', lineOf('other'), ours],
    ['no filter is for what was not carried out', lineOf('not_carried_out'), unexplained],
    ['no filter is for actions without a mode', lineOf('pending', { mode: null }), lineOf('pending')],
    ['no filter is for actions without money', lineOf('pending', { currency: null }), lineOf('pending')],
  ])('is missing if it would show other actions: %s', (_, line, other) => {
    expect(searchOf([line], [line, other])).toBeUndefined()
  })

  test('has no mode for a row of live money and of providers without modes, unless there is test money too', () => {
    const row = [unexplained, lineOf('unexplained', { mode: null })]
    expect(searchOf(row, [...row, ours])).toEqual({ verdict: 'unexplained', kind: 'refund', currency: 'eur' })
    expect(searchOf(row, [...row, lineOf('unexplained', { mode: 'test' })])).toBeUndefined()
  })

  test('exists for each category that is alone', () => {
    for (const category of ['other', 'not_carried_out', 'expected', 'out_of_band_ignored'] as const) {
      const line = lineOf(category)
      expect(searchOf([line], [line, lineOf('unexplained', { currency: 'usd' })])).toMatchObject({ currency: 'eur' })
    }
  })
})
