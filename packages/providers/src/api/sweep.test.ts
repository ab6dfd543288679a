import { describe, expect, test } from 'vitest'
import type { SweepCursor } from '../read-back.ts'
import { type Feed, readSweepPage, SWEEP_OVERLAP_MS } from './sweep.ts'

const NOW = Date.parse('2026-03-01T12:00:00Z')
const SINCE = NOW - 86_400_000

/** A feed of three pages that records its reads. */
function feed(name: string, asked: [string, number, string | null][]): Feed {
  return {
    name,
    async read(from, page) {
      asked.push([name, from, page])
      const next = page === null ? '2' : page === '2' ? '3' : null
      return { kind: 'page', objects: [], events: [], next }
    },
  }
}

function setUp() {
  const asked: [string, number, string | null][] = []
  const feeds = [feed('one', asked), feed('two', asked)]
  return { asked, step: (cursor: SweepCursor | null, now = NOW) => readSweepPage(feeds, cursor, SINCE, now) }
}

describe('a sweep', () => {
  test('reads each page of each feed, and is done after the last page', async () => {
    const { asked, step } = setUp()
    let cursor: SweepCursor | null = null
    const dones: boolean[] = []
    for (let pages = 0; pages < 6; pages++) {
      const page = await step(cursor, NOW + pages * 60_000)
      if (page.kind !== 'page') throw new Error(page.text)
      cursor = page.cursor
      dones.push(page.done)
    }
    expect(asked).toEqual([
      ['one', SINCE, null],
      ['one', SINCE, '2'],
      ['one', SINCE, '3'],
      ['two', SINCE, null],
      ['two', SINCE, '2'],
      ['two', SINCE, '3'],
    ])
    expect(dones).toEqual([false, false, false, false, false, true])
    // The next sweep starts before the beginning of this sweep, because changes during a sweep are on pages that were already read.
    expect(cursor).toEqual({ from: String(NOW - SWEEP_OVERLAP_MS) })
  })

  test('never starts before `since`', async () => {
    const asked: [string, number, string | null][] = []
    const page = await readSweepPage([{ ...feed('one', asked), read: async () => emptyPage }], null, NOW - 1_000, NOW)
    expect(page).toMatchObject({ done: true, cursor: { from: String(NOW - 1_000) } })
  })

  test.each<{ name: string; cursor: SweepCursor }>([
    { name: 'of a removed feed', cursor: { from: String(SINCE), begun: String(NOW), feed: 'gone', page: '9' } },
    { name: 'without its start time', cursor: { from: String(SINCE), feed: 'two', page: '9' } },
    { name: 'with invalid values', cursor: { from: 'x', begun: '-1', feed: 'two', page: '9' } },
    { name: 'without fields', cursor: {} },
  ])('restarts at a cursor $name', async ({ cursor }) => {
    const { asked, step } = setUp()
    expect(await step(cursor)).toMatchObject({ kind: 'page', done: false })
    expect(asked).toEqual([['one', SINCE, null]])
  })
})

const emptyPage = { kind: 'page', objects: [], events: [], next: null } as const
