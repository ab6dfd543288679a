import { emptyCase, expectedChange } from '@backstop/verdict/test'
import { expect, test } from 'vitest'
import { readState, writeState } from './case-state.ts'

const { id: _id, projectId: _project, version: _version, refs: _refs, outbox: _outbox, ...empty } = emptyCase()

test('a case is read as it was written', () => {
  expect(readState(writeState({ ...emptyCase(), expectedChanges: [expectedChange()] }))).toEqual({
    ...empty,
    expectedChanges: [expectedChange()],
  })
})

test('a field that only a newer version knows is kept', () => {
  const text = JSON.stringify({ ...JSON.parse(writeState(emptyCase())), addedLater: 1 })
  expect(JSON.parse(writeState({ ...emptyCase(), ...readState(text) }))).toMatchObject({ addedLater: 1 })
})

test('a text of the first layout is read with the current names', () => {
  const followed = { operationId: 'op_1', look: null }
  const { evicted: _evicted, expectedChanges: _expected, followedOperations: _followed, ...others } = empty
  const text = JSON.stringify({
    ...others,
    notes: [],
    operationCases: [{ ...followed, driftsTold: [['amount']], settledAs: 'completed' }],
    forgotten: [],
  })
  expect(readState(text)).toEqual({
    ...empty,
    followedOperations: [{ ...followed, reportedDrifts: [['amount']], outcome: 'completed' }],
  })
})

test('an expected change of the first layout without limits covers one change of any amount', () => {
  const { maxChanges, maxAmount, usedElsewhere, startsAt, createdAt, ...old } = expectedChange()
  const text = JSON.stringify({ ...empty, notes: [{ ...old, notedAt: createdAt }], operationCases: [] })
  expect(readState(text).expectedChanges).toEqual([expectedChange()])
})
