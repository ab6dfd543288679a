/** The suite that every dead-letter store passes, in memory and on MongoDB. */
import type { DeadLetterDocument } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import type { DeadLetterStore } from '../src/dead-letters/dead-letter-store.ts'
import { type DeadLetterMessage, deadLetterDocument } from '../src/dead-letters/rules/dead-letter.ts'

export interface DeadLettersUnderTest {
  readonly deadLetters: DeadLetterStore
  /** All stored dead letters, by id. */
  all(): Promise<DeadLetterDocument[]>
}

export function describeDeadLetters(name: string, open: () => Promise<DeadLettersUnderTest>): void {
  const letter = (offset: bigint, more: Partial<DeadLetterMessage> = {}): DeadLetterMessage => ({
    partition: 1,
    offset,
    key: 'chn_1',
    value: Buffer.from([0, 255]),
    headers: { 'x-error-code': 'message_invalid', 'x-error-message': 'It is nonsense', other: '1' },
    timestampMs: 5,
    ...more,
  })

  describe(`${name}: dead letters`, () => {
    test('are stored unchanged, each once, with their latest reason', async () => {
      const { deadLetters, all } = await open()
      const documents = [letter(1n), letter(2n, { value: null })].map(deadLetterDocument)
      await deadLetters.keep([])
      await deadLetters.keep(documents)
      await deadLetters.keep(documents)
      expect(await all()).toEqual(documents.toSorted((a, b) => (a._id < b._id ? -1 : 1)))
      const [again] = [letter(1n, { timestampMs: 9 })].map(deadLetterDocument)
      if (again === undefined) throw new Error('There is one')
      await deadLetters.keep([again])
      expect((await all()).find(({ _id }) => _id === again._id)).toEqual({ ...documents[0], parked_at: new Date(9) })
    })

    test('are marked as replayed, unless they were dead-lettered again meanwhile', async () => {
      const { deadLetters, all } = await open()
      const [letterA, letterB] = [letter(1n), letter(2n)].map(deadLetterDocument)
      if (letterA === undefined || letterB === undefined) throw new Error('There are two')
      await deadLetters.keep([letterA, { ...letterB, parked_at: new Date(9) }])
      await deadLetters.markReplayed([], new Date(7))
      const replayed = [letterA, letterB, { ...letterA, _id: 'dlt_none' }]
      await deadLetters.markReplayed(
        replayed.map(({ _id: id, parked_at: parkedAt }) => ({ id, parkedAt })),
        new Date(7),
      )
      const marks = new Map((await all()).map(({ _id, replayed_at }) => [_id, replayed_at]))
      expect(marks).toEqual(
        new Map([
          [letterA._id, new Date(7)],
          [letterB._id, undefined],
        ]),
      )
      await deadLetters.keep([{ ...letterA, parked_at: new Date(8) }])
      expect((await all()).map(({ replayed_at }) => replayed_at)).toEqual([undefined, undefined])
    })
  })
}
