import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'

const window = { from: 0, to: 1_000 }

/** What is printed of pages that end at these times, in seconds from the start of the command. */
function printed(isTerminal: boolean, ...pagesAtS: number[]): string[] {
  const texts: string[] = []
  let nowMs = 0
  const progress = createProgress(window, { err: text => texts.push(text), isTerminal, now: () => nowMs })
  for (const [index, atS] of pagesAtS.entries()) {
    nowMs = atS * 1_000
    progress.show({ walking: 'actions', at: 100 * index, compared: index, different: 0 })
  }
  return texts
}

test('a dry run of a few seconds prints no progress to a file, however long its start took', () => {
  expect(printed(false, 60, 61, 65)).toEqual([])
})

test('a long dry run prints its progress to a file every ten seconds', () => {
  expect(printed(false, 1, 5, 12, 13, 23)).toEqual([
    'actions 20 %: 2 compared, 0 different\n',
    'actions 40 %: 4 compared, 0 different\n',
  ])
})

test('a terminal shows every page on one line', () => {
  expect(printed(true, 1, 2)).toEqual([
    '\r\u001b[Kactions 0 %: 0 compared, 0 different',
    '\r\u001b[Kactions 10 %: 1 compared, 0 different',
  ])
})
