import { type ActionRecord, type Input, MAX_RECORDS } from '@backstop/verdict'
import { contextAt, lookFacts, operationSeen, PROJECT, play, refundSeen, T0 } from '@backstop/verdict/test'
import { describe, expect, test } from 'vitest'
import type { CaseInput } from './work-item.ts'
import { Workspace } from './workspace.ts'

describe('a case that an input does not change', () => {
  const theCase = play([
    { at: T0, input: operationSeen() },
    { at: T0, input: refundSeen() },
  ])
  const own: CaseInput = { projectId: PROJECT, refs: theCase.refs, input: operationSeen(), mayCreate: true }

  test.each<{ name: string; caseInput: CaseInput; listed: number }>([
    {
      name: 'is listed completely, because a crash may have lost the listings of the first attempt',
      caseInput: own,
      listed: 1,
    },
    {
      name: 'is not listed when the input was only loaded for a look',
      caseInput: { ...own, isLoaded: true },
      listed: 0,
    },
  ])('$name', ({ caseInput, listed }) => {
    const workspace = new Workspace([theCase], contextAt(T0))
    workspace.apply(caseInput, lookFacts())
    expect(workspace.results()[0]?.listing.actions).toHaveLength(listed)
  })
})

test('a case with a repeated input evicts no record, because a crash may have lost the listing of its erasure', () => {
  const day = 86_400_000
  const record = play([{ at: T0, input: refundSeen() }]).actions[0]!
  const judged = { ...record, kind: 'credit', verdict: 'not_alerted', reason: 'kind_is_not_judged' } as ActionRecord
  const actions = Array.from({ length: MAX_RECORDS + 2 }, (_, index) => ({ ...judged, id: `act_${index}` }))
  const theCase = { ...play([{ at: T0, input: operationSeen() }]), actions }
  const after = (...inputs: Input[]) => {
    const workspace = new Workspace([theCase], contextAt(T0 + 8 * day))
    for (const input of inputs)
      workspace.apply({ projectId: PROJECT, refs: theCase.refs, input, mayCreate: true }, lookFacts())
    return workspace.results()[0]?.theCase.evicted.length
  }
  const news = operationSeen({ operation_id: 'op_news', version: 3 })
  expect([after(news), after(news, operationSeen())]).toEqual([2, 0])
})
