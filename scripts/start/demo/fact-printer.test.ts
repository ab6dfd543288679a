import { expect, test } from 'vitest'
import { createStage } from './fact-printer.ts'

function stageOn(isTTY: boolean) {
  let nowMs = 0
  const written: string[] = []
  const stage = createStage({ isTTY, columns: 60, write: text => written.push(text) }, () => nowMs)
  return { stage, text: () => written.join(''), later: (ms: number) => (nowMs += ms) }
}

test('on a terminal the changing line is drawn anew below each fact', () => {
  const { stage, text } = stageOn(true)
  stage.live('in 3 s')
  stage.print('a fact')
  stage.live(undefined)
  expect(text()).toBe('in 3 s\r\u001b[2Ka fact\nin 3 s\r\u001b[2K')
})

test('elsewhere the changing line is shown now and then, without control characters', () => {
  const { stage, text, later } = stageOn(false)
  stage.live('in 60 s')
  later(1_000)
  stage.live('in 59 s')
  later(15_000)
  stage.live('in 44 s')
  stage.live(undefined)
  expect(text()).toBe('in 60 s\nin 44 s\n')
})

test('on a terminal a long fact is broken between words, below the place where it begins', () => {
  const { stage, text } = stageOn(true)
  stage.tell('refund', 're_32EtzPpZ6UUN2o0vazYH4oLt of 24.99 EUR: made by your software')
  const [first = '', ...rest] = text().trimEnd().split('\n')
  expect(first.slice(8)).toBe('  refund       re_32EtzPpZ6UUN2o0vazYH4oLt of 24.99')
  expect(rest).toEqual(['                       EUR: made by your software'])
})

test('elsewhere a fact is one line, however long: logs are searched', () => {
  const { stage, text } = stageOn(false)
  stage.tell('refund', 'word '.repeat(60).trimEnd())
  expect(text().trimEnd()).not.toContain('\n')
})
