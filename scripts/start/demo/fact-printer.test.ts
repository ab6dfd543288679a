import { expect, test } from 'vitest'
import { createFactPrinter } from './fact-printer.ts'

function stageOn(isTTY: boolean) {
  let nowMs = 0
  const written: string[] = []
  const printer = createFactPrinter({ isTTY, columns: 60, write: text => written.push(text) }, () => nowMs)
  return { printer, text: () => written.join(''), later: (ms: number) => (nowMs += ms) }
}

test('prints the status line again below each fact on a terminal', () => {
  const { printer, text } = stageOn(true)
  printer.status('in 3 s')
  printer.print('a fact')
  printer.status(undefined)
  expect(text()).toBe('in 3 s\r\u001b[2Ka fact\nin 3 s\r\u001b[2K')
})

test('prints the status line every 15 s without control characters elsewhere', () => {
  const { printer, text, later } = stageOn(false)
  printer.status('in 60 s')
  later(1_000)
  printer.status('in 59 s')
  later(15_000)
  printer.status('in 44 s')
  printer.status(undefined)
  expect(text()).toBe('in 60 s\nin 44 s\n')
})

test('wraps a long fact between words with indentation on a terminal', () => {
  const { printer, text } = stageOn(true)
  printer.fact('refund', 're_32EtzPpZ6UUN2o0vazYH4oLt of 24.99 EUR: made by your software')
  const [first = '', ...rest] = text().trimEnd().split('\n')
  expect(first.slice(8)).toBe('  refund       re_32EtzPpZ6UUN2o0vazYH4oLt of 24.99')
  expect(rest).toEqual(['                       EUR: made by your software'])
})

test('prints a fact of any length as one line elsewhere, so that logs can be searched', () => {
  const { printer, text } = stageOn(false)
  printer.fact('refund', 'word '.repeat(60).trimEnd())
  expect(text().trimEnd()).not.toContain('\n')
})
